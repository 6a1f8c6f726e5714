"""What one evaluation of a path may use: steps, depth and memory. JSONata has limits of its own.

A hostile path meets one of the limits instead of hanging a worker. Steps, depth and memory are
counted, so that it ends in the same way on every machine.
"""

from __future__ import annotations

import time
from typing import Any

STEP_LIMIT = 1_000_000
"""Steps that one evaluation may take: about a second, seldom two, on a machine of today.

Step Functions ends an expression after about five seconds.
"""

TIME_LIMIT_S = 5.0
"""Seconds of processor time after which an evaluation ends whatever it has counted.

Far more than its steps take: it is for what is slow inside one step. Not of the wall clock: a
worker that has to wait for a processor must fail no expression.
"""

REGEX_LIMIT_S = 0.5
"""Seconds that one search of a regular expression may take, which counts no steps."""

MAX_DEPTH = 100
"""How deep an expression may nest while it is evaluated, as in Step Functions."""

VALUE_LIMIT = 6_990_256
"""Bytes that one value may hold, a number counting 8 and a character 1, as in Step Functions."""

TOTAL_LIMIT = 160_000_000
"""Bytes of memory, estimated, that one evaluation may take in all, what it dropped included."""

_NODE_STEPS = 2  # steps that a node of an expression costs
_CLOCK_EVERY = 64  # small pieces of work between two looks at the clock
_LARGE = 10_000  # bytes of a value that is worth a look of its own


STACK_REACHED = (
    "Stack overflow error: Check for non-terminating recursive function. "
    "Consider rewriting as tail-recursive"
)
TIME_REACHED = "Expression evaluation timeout: Check for infinite loop"
MEMORY_REACHED = "Expression evaluation memory limit exceeded: Check for excessive memory usage"


class LimitReached(Exception):
    """An evaluation used more than it may; the text says what, as Step Functions does."""


class Budget:
    """Counts what an evaluation uses; every method raises LimitReached at its limit."""

    __slots__ = ("_deadline", "_unseen", "depth", "kept", "steps", "total")

    def __init__(self, seconds: float = TIME_LIMIT_S) -> None:
        # The one clock in this room: it only ends what neither ends nor counts by itself.
        self._deadline = time.thread_time() + seconds
        self._unseen = _CLOCK_EVERY
        self.steps = 0
        self.depth = 0
        self.total = 0
        self.kept: dict[object, Any] = {}
        """What stays the same for the whole evaluation, by what found it."""

    def enter(self) -> None:
        """One more node of the expression is evaluated; ``leave`` when it is done."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LimitReached(STACK_REACHED)
        self.tick(_NODE_STEPS)

    def leave(self) -> None:
        self.depth -= 1

    def tick(self, steps: int = 1) -> None:
        """A small piece of work is done, which counts ``steps``."""
        self.steps += steps
        if self.steps > STEP_LIMIT:
            raise self.timed_out()
        self._unseen -= 1
        if self._unseen == 0:
            self.look_at_clock()

    def look_at_clock(self) -> None:
        self._unseen = _CLOCK_EVERY
        if time.thread_time() > self._deadline:
            raise self.timed_out()

    def spend(self, items: int) -> None:
        """An array of ``items`` elements is made."""
        self.grow(8 * items)

    def grow(self, size: int) -> None:
        """A value of ``size`` bytes is made."""
        self.total += size
        if size > VALUE_LIMIT or self.total > TOTAL_LIMIT:
            raise self.too_big()
        if size > _LARGE:
            self.look_at_clock()
        self.tick()

    def work(self, size: int) -> None:
        """A value of ``size`` bytes so far is looked through."""
        if size > VALUE_LIMIT:
            raise self.too_big()
        self.tick()

    def regex_seconds(self) -> float:
        """How long one search may run: what is left, not above its limit, more than nothing."""
        left = self._deadline - time.thread_time()
        return max(0.001, min(left, REGEX_LIMIT_S))

    def timed_out(self) -> LimitReached:
        return LimitReached(TIME_REACHED)

    def too_big(self) -> LimitReached:
        return LimitReached(MEMORY_REACHED)
