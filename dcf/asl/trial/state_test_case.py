"""A test of one state: what it is given, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dcf.asl.payload import JSON

Level: TypeAlias = Literal["INFO", "DEBUG", "TRACE"]
StateTestStatus: TypeAlias = Literal["SUCCEEDED", "FAILED", "RETRIABLE", "CAUGHT_ERROR"]


@dataclass(frozen=True, slots=True)
class MockedResult:
    """The work of the state answers ``result``."""

    result: JSON


@dataclass(frozen=True, slots=True)
class MockedError:
    """The work of the state fails."""

    error: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """What has happened before.

    ``retrier_retry_count`` attempts of the retrier that names the error are used up.
    ``map_iteration_failure_count`` iterations failed. ``error_caused_by_state`` names the state
    inside from which the error comes. ``map_item_reader_data`` is what the ItemReader finds: the
    items, or the text of the object as it is in its store.
    """

    retrier_retry_count: int = 0
    map_iteration_failure_count: int | None = None
    error_caused_by_state: str | None = None
    map_item_reader_data: list[JSON] | str | None = None


@dataclass(frozen=True, slots=True)
class StateTest:
    """What the state did.

    ``output`` is None unless it went on; ``error`` and ``cause`` stand beside it when an error was
    caught. ``retry_after_s`` is set when it would be tried again. ``assigned`` are the variables
    that it set. ``inspection`` has the stages of its data flow by AWS's names.
    """

    status: StateTestStatus
    output: JSON = None
    error: str | None = None
    cause: str | None = None
    next_state: str | None = None
    retry_after_s: float | None = None
    assigned: dict[str, JSON] = field(default_factory=dict)
    inspection: dict[str, JSON] = field(default_factory=dict)
