"""A standard operating procedure: what is to be reached, with what, and in which steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dcf.sop.conduct import Budget, ValueType
from dcf.sop.prose import one_line, tidy
from dcf.sop.step import Step

VALUE_TYPES: tuple[ValueType, ...] = (
    "string",
    "number",
    "integer",
    "boolean",
    "array",
    "object",
)


@dataclass(frozen=True, slots=True)
class Value:
    """An input or an output. ``type`` is the name of a JSON type; ``items`` that of the elements of
    an array. ``members`` describe an object, or the elements of an array of objects. ``default``
    and ``example`` are JSON values, None for none; ``enum`` has all values that are allowed. Both
    forms take an input with a default for optional, unless they say ``required``."""

    name: str
    type: ValueType = "string"
    description: str = ""
    required: bool = True
    items: ValueType | None = None
    default: Any = None
    example: Any = None
    enum: tuple[Any, ...] = ()
    members: tuple[Value, ...] = ()
    line: int = field(default=0, compare=False)
    is_typed: bool = field(default=True, compare=False)
    """Whether its type was said; text that nobody said may be anything."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "description", one_line(self.description))


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A rule that holds throughout, in words."""

    text: str
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))


@dataclass(frozen=True, slots=True)
class Role:
    """Who does steps, or approves them. ``description`` may be empty."""

    name: str
    description: str = ""
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", one_line(self.name))
        object.__setattr__(self, "description", one_line(self.description))


@dataclass(frozen=True, slots=True)
class Note:
    """A section that is for readers only."""

    title: str
    text: str
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "text", tidy(self.text))


@dataclass(frozen=True, slots=True)
class Sop:
    """A whole procedure, as ``parse`` returns it. ``deadline`` (seconds) and ``budget`` are limits
    of the whole run; in the Markdown form they stand among the guardrails."""

    title: str
    objective: str
    steps: tuple[Step, ...]
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    roles: tuple[Role, ...] = ()
    notes: tuple[Note, ...] = ()
    deadline: int | None = None
    budget: Budget | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "objective", tidy(self.objective))

    def all_steps(self) -> Iterator[Step]:
        """Every step, those inside others too, in reading order."""
        return _walk(self.steps)


def _walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _walk(step.steps)
        for lane in step.lanes:
            yield from _walk(lane.steps)
