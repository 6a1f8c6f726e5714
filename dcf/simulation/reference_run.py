"""What a user's machine comes to when nothing goes wrong, by the pure interpreter.

Faults delay, and what waits for two things at once may go on with the other one. Runs have other
ids, and begin at other times. So the interpreter is asked several times: the first time as things
are, then with other ids, other beginnings and delays in between. Where it always says the same, a
run has to say so too; what differs is decided by time or chance.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from control_plane import JSON
from dcf import asl
from dcf.asl.trial import CallTask, Mocks, MockTrouble, Path
from dcf.simulation.mocked_work import MockedWork, Recording
from dcf.simulation.order import EPOCH_S

MOST_STEPS = 2_000
"""More make a simulation too long."""

# Two branches that each may be first change places in about half of them: all others miss that with
# 1 in 2,000.
_OTHERS = 11
_SHORTEST_DELAY_S, _LONGEST_DELAY_S = 0.01, 60.0
_LATEST_START_S = 9_000.0
_STATUS = {"SUCCEEDED": "succeeded", "FAILED": "failed", "TIMED_OUT": "timed_out"}


class Unsimulable(Exception):
    """A machine cannot be simulated: ``code``, ``message``, ``hint``."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Stands for what time or chance decides."""


UNDECIDED = Undecided()


@dataclass(frozen=True, slots=True)
class Expectation:
    """How a run has to end that no fault sent elsewhere. ``UNDECIDED`` stands where time or chance
    decides; inside of ``output`` too."""

    status: str | Undecided
    output: Any = None
    error: str | Undecided | None = None
    cause: str | Undecided | None = None

    def differs(self, found: Expectation) -> str | None:
        """What is wrong with ``found``, the end of a run."""
        for what in ("status", "error", "cause", "output"):
            wanted, given = getattr(self, what), getattr(found, what)
            if not _fits(wanted, given):
                return f"{what} is {_text(given)}; the interpreter says {_text(wanted)}"
        return None


@dataclass(frozen=True, slots=True)
class Reference:
    """The work of a machine's Tasks, what it comes to, and how many virtual seconds the longest of
    that work takes under a lease, and all of it, one after another."""

    work: MockedWork
    expected: Expectation
    longest_task_s: float
    work_s: float


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """A machine with its input, for the interpreter; ``mocks`` makes mocks that answered nothing
    yet."""

    name: str
    machine: asl.StateMachine
    input: JSON
    mocks: Callable[[], Mocks]
    objects: dict[str, bytes] = field(default_factory=dict)

    def execute(self) -> Reference:
        """Raises MockTrouble for what nothing is mocked for, and Unsimulable."""
        recording = Recording(self.mocks())
        clock = asl.VirtualClock(float(EPOCH_S))
        first = self._interpret(self.machine, recording, clock, random.Random(0), delay=None)
        self._check(first)
        expected = _end(first)
        work = MockedWork(recording.answers, self.mocks)
        is_late = first.status == "TIMED_OUT"
        for number in range(_OTHERS):
            rng = random.Random(f"other {number}")
            other = self._in_time(work, rng) if is_late else self._delayed(work, rng)
            expected = _merged(expected, other)
        return Reference(work, expected, recording.longest_s, recording.work_s)

    def _check(self, end: asl.Execution) -> None:
        entered = sum(entry.moment in ("entered", "retry") for entry in end.trace)
        if entered > MOST_STEPS:
            message = f"the execution takes more than {MOST_STEPS:,} steps"
            raise Unsimulable("CLI_SIM_LONG", message, "give it an input that makes it shorter")
        if end.status == "TIMED_OUT" and end.cause is not None:
            hint = "give the Task that never answers TimeoutSeconds, or mock an answer"
            raise Unsimulable("CLI_SIM_ENDLESS", f"the execution never ends: {end.cause}", hint)

    def _in_time(self, work: MockedWork, rng: random.Random) -> Expectation | None:
        """What it comes to otherwise, where its time limit ended it: less late, by chance alone."""
        return self._other(self.machine, work, rng, delay=None)

    def _delayed(self, work: MockedWork, rng: random.Random) -> Expectation | None:
        """What it comes to otherwise, with delays. These are made up: that they exceed its time
        limit says nothing about the machine."""
        return self._other(replace(self.machine, timeout_s=None), work, rng, delay=_Pace(rng))

    def _other(
        self,
        machine: asl.StateMachine,
        work: MockedWork,
        rng: random.Random,
        delay: Callable[[Path], float] | None,
    ) -> Expectation | None:
        """None where nothing is mocked for that."""
        clock = asl.VirtualClock(EPOCH_S + rng.uniform(0, _LATEST_START_S))
        try:
            return _end(self._interpret(machine, work.replay(), clock, rng, delay))
        except MockTrouble:
            return None

    def _interpret(
        self,
        machine: asl.StateMachine,
        call_task: CallTask,
        clock: asl.VirtualClock,
        rng: random.Random,
        delay: Callable[[Path], float] | None,
    ) -> asl.Execution:
        return asl.interpret(
            machine,
            self.input,
            call_task=call_task,
            clock=clock,
            rng=rng,
            name=self.name,
            count_events=False,
            objects=asl.MemoryObjects(self.objects),
            max_steps=10 * MOST_STEPS,
            delay=delay,
        )


class _Pace:
    """How late states are: each branch has a pace of its own, so that some are much faster than
    others however many states they have."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._paces: dict[Path, float] = {}

    def __call__(self, path: Path) -> float:
        if path[:-1] not in self._paces:
            slowest = math.log(_LONGEST_DELAY_S / _SHORTEST_DELAY_S)
            self._paces[path[:-1]] = _SHORTEST_DELAY_S * math.exp(self._rng.uniform(0, slowest))
        return self._paces[path[:-1]] * self._rng.random()


def _end(end: asl.Execution) -> Expectation:
    output = end.output if end.status == "SUCCEEDED" else None
    return Expectation(_STATUS[end.status], output, end.error, end.cause)


def _merged(one: Expectation, other: Expectation | None) -> Expectation:
    """What both say."""
    if other is None or one.status != other.status:
        return Expectation(UNDECIDED, UNDECIDED, UNDECIDED, UNDECIDED)
    return Expectation(
        one.status,
        _common(one.output, other.output),
        one.error if one.error == other.error else UNDECIDED,
        one.cause if one.cause == other.cause else UNDECIDED,
    )


def _common(one: Any, other: Any) -> Any:
    """``one``, with ``UNDECIDED`` where ``other`` says something else."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {name: _common(value, other[name]) for name, value in one.items()}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_common(*pair) for pair in zip(one, other, strict=True)]
    return one if not isinstance(one, Undecided) and _same(one, other) else UNDECIDED


def _fits(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, Undecided):
        return True
    if isinstance(wanted, dict) and isinstance(given, dict):
        return wanted.keys() == given.keys() and all(
            _fits(value, given[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(map(_fits, wanted, given))
    return _same(wanted, given)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON: ``1`` is not ``true``."""
    return type(one) is type(other) and bool(one == other)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda _: "(whatever)")
