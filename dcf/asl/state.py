"""The eight state types as parsed, immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcf.asl.catcher import Catcher
from dcf.asl.choice_rule import ChoiceRule
from dcf.asl.context_policy import ContextPolicy
from dcf.asl.dataflow import DataFlow
from dcf.asl.jsonata.flow import Flow
from dcf.asl.manual_task import ManualTask
from dcf.asl.maps.item_batcher import ItemBatcher
from dcf.asl.maps.item_reader import ItemReader
from dcf.asl.maps.result_writer import ResultWriter
from dcf.asl.memory_policy import MemoryPolicy
from dcf.asl.payload import JSON
from dcf.asl.retrier import Retrier
from dcf.asl.scope import Expression

if TYPE_CHECKING:
    from dcf.asl.machine import StateMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What every state has; fields that a type lacks keep their empty value.

    ``timeout_s`` and ``heartbeat_s`` are limits written as numbers; ``dcf.asl.time_limits`` also
    knows those that an expression gives.
    """

    name: str
    type: str
    comment: str = ""
    next: str | None = None
    end: bool = False
    jsonata: bool = False
    flow: Flow = field(default_factory=DataFlow)
    retriers: tuple[Retrier, ...] = ()
    catchers: tuple[Catcher, ...] = ()
    resource: str | None = None
    binding: dict[str, Any] | None = None
    memory: MemoryPolicy | None = None
    context: ContextPolicy | None = None
    manual: ManualTask | None = None
    timeout_s: float | None = None
    heartbeat_s: float | None = None
    branches: tuple[StateMachine, ...] = ()
    processor: StateMachine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState(State):
    """Work done outside: by an agent (``binding``) or a named ``resource``.

    ``timeout`` and ``heartbeat`` are limits to evaluate. With ``waits_for_token`` somebody else
    than the worker answers. ``credentials`` are evaluated and checked, and used by nobody here.
    """

    timeout: Expression | None = None
    heartbeat: Expression | None = None
    waits_for_token: bool = False
    credentials: Expression | None = None


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
    """Waits ``seconds``, or until the moment ``until`` (epoch seconds)."""

    seconds: Expression | None = None
    until: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SucceedState(State):
    """Ends its machine well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailState(State):
    """Ends its machine with an error name and a cause; either may be missing."""

    error: Expression | None = None
    cause: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelState(State):
    """Runs every branch on the same input; the results become an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapState(State):
    """Runs ``processor`` once for each item, at most ``max_concurrency`` at once (0: no limit).

    ``items`` selects the array; without it the input is that array. ``reader`` takes the items
    from an object store instead. ``batcher`` groups them. ``writer`` puts the results into an
    object store. ``is_distributed``: each iteration is an execution of its own, which sees no
    variables of the machine around it. Up to ``tolerated_count`` or ``tolerated_percentage`` of the
    iterations may fail.
    """

    items: Expression | None = None
    items_text: str = "$"
    item_selector: Expression | None = None
    max_concurrency: Expression | None = None
    tolerated_count: Expression | None = None
    tolerated_percentage: Expression | None = None
    is_distributed: bool = False
    label: str | None = None
    reader: ItemReader | None = None
    batcher: ItemBatcher | None = None
    writer: ResultWriter | None = None

    @property
    def is_tolerant(self) -> bool:
        """Whether it says how many iterations may fail."""
        return self.tolerated_count is not None or self.tolerated_percentage is not None

    @property
    def selects_each(self) -> bool:
        """Whether the input of an iteration is made only when it starts, by ItemSelector."""
        return self.item_selector is not None and self.batcher is None
