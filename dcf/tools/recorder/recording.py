"""What a real server said: its tools, and the answers to the calls that went through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.stub.equality import same
from dcf.tools.stub.matching import json_text

_MOST_STEPS = 50


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer: ``data``, of an error with its code in ``error``. ``hung``: none came in time."""

    data: Any = None
    error: str | None = None
    hung: bool = False

    @classmethod
    def of(cls, result: ToolResult) -> Recorded:
        """What a tool answered."""
        return cls(result.data, result.error if result.is_error else None)


class Recording:
    """Tools by name, and by tool and arguments the answers in their order.

    Of more than fifty answers to one call the first ones and the last are kept.
    """

    def __init__(self) -> None:
        self.tools: dict[str, ToolDescription] = {}
        self._answers: dict[tuple[str, str], tuple[dict[str, Any], list[Recorded]]] = {}

    def describe(self, tools: list[ToolDescription]) -> None:
        self.tools.update((tool.name, tool) for tool in tools)

    def note(self, tool: str, arguments: Mapping[str, Any], answer: Recorded) -> bool:
        """Keep one answer; whether it says anything new."""
        key = (tool, json_text(arguments))
        answers = self._answers.setdefault(key, (dict(arguments), []))[1]
        news = not answers or not _alike(answers[-1], answer)
        if len(answers) < _MOST_STEPS:
            answers.append(answer)
        else:
            answers[-1] = answer
        return news

    @property
    def calls(self) -> int:
        """How many different calls there were."""
        return len(self._answers)

    def answers(self, tool: str) -> list[tuple[dict[str, Any], list[Recorded]]]:
        """Arguments and answers of a tool, in order of the arguments' JSON. An answer that came
        again and again at the end stands there once."""
        calls = sorted(key for key in self._answers if key[0] == tool)
        return [(self._answers[key][0], _settled(self._answers[key][1])) for key in calls]


def _alike(left: Recorded, right: Recorded) -> bool:
    return (left.error, left.hung) == (right.error, right.hung) and same(left.data, right.data)


def _settled(answers: list[Recorded]) -> list[Recorded]:
    end = len(answers)
    while end > 1 and _alike(answers[end - 2], answers[end - 1]):
        end -= 1
    return answers[:end]
