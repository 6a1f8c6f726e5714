"""What an interpreted execution has open: frames, tries of states, fans of children."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dcf.asl.effect import FanOut
from dcf.asl.execution import Path
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON
from dcf.asl.state import State
from dcf.asl.visit import Visit

_COUNTS_RETRIES = ("Task", "Parallel", "Map")


@dataclass(slots=True)
class Frame:
    """A running machine: the whole one, or child ``index`` of a fan."""

    machine: StateMachine
    path: Path
    context: dict[str, Any]
    parent: Fan | None
    index: int

    @property
    def is_open(self) -> bool:
        """Whether nothing that this frame belongs to has ended."""
        fan = self.parent
        while fan is not None:
            if not fan.is_open:
                return False
            fan = fan.attempt.frame.parent
        return True


@dataclass(slots=True)
class Try:
    """One try of one visit of a state."""

    frame: Frame
    name: str
    input: JSON
    retries: dict[int, int]
    entered: str
    is_over: bool = False
    fan: Fan | None = None

    @property
    def path(self) -> Path:
        return (*self.frame.path, self.name)

    @property
    def state(self) -> State:
        return self.frame.machine.states[self.name]

    def visit(self) -> Visit:
        seen: dict[str, Any] = {"EnteredTime": self.entered, "Name": self.name}
        if self.state.type in _COUNTS_RETRIES:
            seen["RetryCount"] = sum(self.retries.values())
        return Visit(self.input, {**self.frame.context, "State": seen}, {}, self.retries)

    def again(self, retrier: int) -> Try:
        """The next try after ``retrier`` spent one more attempt; this one is over."""
        self.is_over = True
        retries = {**self.retries, retrier: self.retries.get(retrier, 0) + 1}
        return Try(self.frame, self.name, self.input, retries, self.entered)


@dataclass(slots=True)
class Fan:
    """The children of a Parallel or Map: how many started and finished, and their results."""

    attempt: Try
    visit: Visit
    effect: FanOut
    started: int = 0
    finished: int = 0
    is_open: bool = True
    results: list[JSON] = field(init=False)

    def __post_init__(self) -> None:
        self.results = [None] * self.effect.count

    @property
    def window(self) -> int:
        """How many children may run at once."""
        return min(self.effect.count, self.effect.max_concurrency or self.effect.count)
