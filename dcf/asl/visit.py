"""One visit of a state: what it sees, what can happen to it, what it then wants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dcf.asl.effect import ReadItems, Trouble, WriteResults
from dcf.asl.payload import JSON


@dataclass(frozen=True, slots=True)
class Visit:
    """What a state sees: its raw ``input`` and the context object (``$$``).

    ``retries`` counts the used attempts by index of the retrier. ``variables`` is what outer
    and earlier states assigned. ``entered_event`` is the number of the history event that entered
    the state, for causes; None where nobody counts. ``identity`` (``visit_identity``) tells this
    try from every other one; "" where nobody keeps order. Whoever takes the state over says the
    same, and what a try fanned out keeps its identity to the end, redrives included.
    """

    input: JSON
    context: dict[str, Any]
    variables: dict[str, JSON] = field(default_factory=dict)
    retries: dict[int, int] = field(default_factory=dict)
    entered_event: int | None = None
    identity: str = ""


def visit_identity(
    execution: str, path: Iterable[str | int], visit: int, retries: Mapping[int, int]
) -> str:
    """The ``Visit.identity`` of the try after ``retries`` of the ``visit``-th visit of ``path``."""
    return json.dumps([execution, [*path], visit, sum(retries.values())])


@dataclass(frozen=True, slots=True)
class Entered:
    """The state is entered, or tried again after its retry delay."""


@dataclass(frozen=True, slots=True)
class TaskSucceeded:
    """The work of a Task answered ``result``."""

    result: JSON


@dataclass(frozen=True, slots=True)
class TaskFailed(Trouble):
    """The work of a Task failed, timed out or lost its worker."""


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time a Wait asked for has come."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Every branch or iteration finished; ``results`` in the order of branches or items.

    ``failures`` has (error, cause) by index of the children that failed and were tolerated; their
    result is None. ``inputs`` is what each iteration started with, or its item where it could not
    start; None where the caller has not kept it.
    """

    results: list[JSON]
    failures: Mapping[int, tuple[str | None, str | None]] = field(default_factory=dict)
    inputs: Sequence[JSON] | None = None


@dataclass(frozen=True, slots=True)
class ChildFailed(Trouble):
    """A branch or iteration failed."""


@dataclass(frozen=True, slots=True)
class ItemsRead:
    """What ``request`` asked for: the bytes of each object, or its listing."""

    request: ReadItems
    contents: tuple[bytes, ...] = ()
    listing: tuple[Mapping[str, JSON], ...] = ()


@dataclass(frozen=True, slots=True)
class ItemsUnreadable:
    """An object of the ItemReader is not there or cannot be read."""

    cause: str


@dataclass(frozen=True, slots=True)
class ResultsWritten:
    """All files of ``request`` are written."""

    request: WriteResults


@dataclass(frozen=True, slots=True)
class ResultsUnwritable:
    """The ResultWriter's files cannot be written."""

    cause: str


@dataclass(frozen=True, slots=True)
class ResultRefused(Trouble):
    """The caller cannot go on with the state: what it just gave cannot be kept (too large, too
    deep, no JSON), or nobody was able to take its next step."""


Event: TypeAlias = (
    Entered
    | TaskSucceeded
    | TaskFailed
    | TimerFired
    | Joined
    | ChildFailed
    | ItemsRead
    | ItemsUnreadable
    | ResultsWritten
    | ResultsUnwritable
    | ResultRefused
)
