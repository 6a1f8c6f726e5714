"""How a model ends its task: with a result, with a failure, or with plain text."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TypeAlias

from dcf.agents.assignment import JSON


@dataclass(frozen=True, slots=True)
class Result:
    """Reports that the task is done. `data` is its result, `summary` one sentence about it.
    `missing` says what is not done, if only a part is."""

    data: JSON
    summary: str = ""
    artifacts: list[str] = field(default_factory=list)
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Reports that the task cannot be done. `error` is a short error name, `cause` the reason."""

    error: str
    cause: str


Answer: TypeAlias = Result | Failure | str


def answer_in(text: str) -> Result:
    """A plain answer: the object or array that it is the JSON text of, else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return Result(data=text)
    return Result(data=value if isinstance(value, dict | list) else text)
