"""How a step is carried out: retries, time, approval, budget, what it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dcf.sop.condition import Name
from dcf.sop.prose import one_line

ValueType = Literal["string", "number", "integer", "boolean", "array", "object"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """A value on its way into or out of a step.

    In ``reads``: the value known as ``source`` (dotted) is given to the step as ``target``. In
    ``writes``: the member ``source`` (dotted) of the step's result is known as ``target`` from here
    on; of a loop, ``target`` is the list of what each turn left as ``source``. ``type``, and
    ``items`` of a list, say what a person has to report.
    """

    source: str
    target: str
    line: int = field(default=0, compare=False)
    type: ValueType | None = None
    items: ValueType | None = None

    @property
    def root(self) -> str:
        """The first part of ``source``."""
        return self.source.partition(".")[0]

    @property
    def is_plain(self) -> bool:
        """Whether the target is named as the last part of the source."""
        return self.source.rpartition(".")[2] == self.target


Keep = Literal["first", "last", "every"]
KEEPS: tuple[Keep, ...] = ("first", "last", "every")


@dataclass(frozen=True, slots=True)
class Join:
    """What is known as ``name`` after a parallel step in which several lanes write it, in the order
    in which the lanes stand and whatever their times: the value of the ``first`` or the ``last``
    lane that wrote one, or a list of ``every`` lane's, null for one that wrote none."""

    name: str
    keep: Keep
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Retry:
    """Up to ``times`` further tries, the first after ``wait`` seconds and each pause ``factor``
    times the one before, none longer than ``longest`` seconds. ``errors`` are the names that are
    retried; without any, all."""

    times: int
    wait: int = 1
    factor: float = 1.0
    longest: int | None = None
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Exactly one of the two is set. ``seconds`` is a whole number or the name of one; ``until`` a
    timestamp (RFC 3339, with zone) or the name of one."""

    seconds: int | Name | None = None
    until: str | Name | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """Somebody has to agree: before the work of a task begins, or as a step of its own. ``by`` are
    roles or people, any one of whom decides; with none, anybody may."""

    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(one_line(who) for who in self.by))


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used at most; None is no limit. Members as in ``budget`` of a workflow."""

    tool_calls: int | None = None
    model_calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    wall_time_s: int | None = None
