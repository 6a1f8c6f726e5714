"""The eight state types as parsed, immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcf.asl.catcher import Catcher
from dcf.asl.choice_rule import ChoiceRule
from dcf.asl.dataflow import DataFlow
from dcf.asl.payload import JSON
from dcf.asl.retrier import Retrier
from dcf.asl.scope import Expression

if TYPE_CHECKING:
    from dcf.asl.machine import StateMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What every state has; fields that a type lacks keep their empty value."""

    name: str
    type: str
    comment: str = ""
    next: str | None = None
    end: bool = False
    flow: DataFlow = field(default_factory=DataFlow)
    retriers: tuple[Retrier, ...] = ()
    catchers: tuple[Catcher, ...] = ()
    resource: str | None = None
    binding: dict[str, Any] | None = None
    timeout_s: float | None = None
    heartbeat_s: float | None = None
    branches: tuple[StateMachine, ...] = ()
    processor: StateMachine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState(State):
    """Work done outside: by an agent (``binding``) or a named ``resource``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassState(State):
    """Gives ``result`` when it ``has_result``, otherwise its parameters or input."""

    result: JSON = None
    has_result: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceState(State):
    """Goes where the first matching rule says, else to ``default``."""

    rules: tuple[ChoiceRule, ...] = ()
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitState(State):
    """Waits ``seconds`` or until ``timestamp`` (epoch seconds), fixed or read from a path."""

    seconds: float | None = None
    timestamp: float | None = None
    seconds_path: Expression | None = None
    timestamp_path: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SucceedState(State):
    """Ends its machine well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailState(State):
    """Ends its machine with an error name and a cause."""

    error: Expression
    cause: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelState(State):
    """Runs every branch on the same input; the results become an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapState(State):
    """Runs ``processor`` once for each item, at most ``max_concurrency`` at once (0: no limit)."""

    items_path: Expression | None = None
    item_selector: Expression | None = None
    max_concurrency: int = 0
