"""What a contract test of an AgentRuntime works in: a runtime, and a model that says its lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from dcf.agents import JSON, AgentRuntime


@dataclass(frozen=True, slots=True)
class Says:
    """The model answers with ``text``, which ends its turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls a tool. ``arguments`` as text are written as they are."""

    tool: str
    arguments: dict[str, JSON] | str = field(default_factory=dict)


class RuntimeWorld(Protocol):
    """One world per test. ``runtime`` has no agents that the test did not make, or the test cannot
    see them."""

    runtime: AgentRuntime

    def script(self, *lines: Says | Calls) -> None:
        """What the model says next, one line for each time that it is asked. A model that is asked
        more often fails the test."""
        ...

    def prompts(self) -> list[str]:
        """Everything that the model was given, as text, for each time that it was asked."""
        ...


class Uses:
    """Calls of attached tools, as a test answers them."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.calls: list[tuple[str, dict[str, JSON]]] = []

    async def __call__(self, name: str, arguments: dict[str, JSON]) -> JSON:
        self.calls.append((name, arguments))
        answer = self._answers[name]
        if isinstance(answer, BaseException):
            raise answer
        return answer
