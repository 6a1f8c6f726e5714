"""What an interpreted execution has open: frames, tries of states, fans of children."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from dcf.asl.context import child_context, iteration_context
from dcf.asl.effect import Effect, Failure, FanOut, RetryAfter, Transition
from dcf.asl.errors import QUERY_EVALUATION_ERROR
from dcf.asl.machine import StateMachine
from dcf.asl.maps.map_run import MapRun, map_run
from dcf.asl.payload import JSON
from dcf.asl.state import MapState, State
from dcf.asl.timestamp import format_timestamp
from dcf.asl.trial.execution import Path
from dcf.asl.visit import ChildFailed, Entered, Event, TaskFailed, Visit, visit_identity

_SUBMITTED = (".sync", ".sync:2", ".waitForTaskToken")
_COUNTS_RETRIES = frozenset({"Task", "Parallel", "Map"})


@dataclass(slots=True)
class History:
    """Counts the history events of one execution as Step Functions would write them.

    ``is_told``: the numbers go into causes.
    """

    is_told: bool
    events: int = 1  # ExecutionStarted

    def enter(self) -> int | None:
        """Count that a state was entered; the number to tell."""
        self.events += 1
        return self.events if self.is_told else None

    def start_task(self, resource: str | None) -> None:
        """Count what comes before the answer of a Task: scheduled, started, maybe submitted."""
        self.events += 3 if resource is not None and resource.endswith(_SUBMITTED) else 2

    def add(self, count: int = 1) -> None:
        """Count ``count`` more events."""
        self.events += count

    def fail(self, state: State, event: Event, effect: Effect, told: int) -> None:
        """Count what tells that an expression failed, and that the state did: ``told`` events,
        or one where the expression is of a Map or Parallel itself; none before a retry."""
        if _failed_itself(state, event, effect):
            self.add()  # EvaluationFailed
            told = 0 if state.type == "Task" else 1
        if not isinstance(effect, RetryAfter):
            self.add(told)


def _failed_itself(state: State, event: Event, effect: Effect) -> bool:
    """Whether an expression of ``state`` failed, in JSONata."""
    if not state.jsonata or isinstance(event, (TaskFailed, ChildFailed)):
        return False
    if isinstance(effect, (RetryAfter, Failure)):
        return effect.error == QUERY_EVALUATION_ERROR
    # Only a catcher leads on from a state that waits for others' work as soon as it is entered.
    waits = state.type in _COUNTS_RETRIES
    return waits and isinstance(event, Entered) and isinstance(effect, Transition)


@dataclass(slots=True)
class Visits:
    """Counts how often each state of an ``execution`` was entered, by its path."""

    execution: str
    counts: Counter[Path] = field(default_factory=Counter)

    def enter(self, path: Path) -> int:
        """Count one more visit; its number."""
        self.counts[path] += 1
        return self.counts[path]

    def identity(self, path: Path, visit: int, retries: dict[int, int]) -> str:
        """See ``visit_identity``."""
        return visit_identity(self.execution, path, visit, retries)


@dataclass(slots=True)
class Frame:
    """A running machine: the whole one, or child ``index`` of a fan.

    ``variables`` are those of the frames around it too; a new dict replaces it at every Assign.
    """

    machine: StateMachine
    path: Path
    context: dict[str, Any]
    parent: Fan | None
    index: int
    history: History
    variables: dict[str, JSON] = field(default_factory=dict)
    visits: Visits = field(init=False)

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.visits = self.parent.attempt.frame.visits
        else:
            self.visits = Visits(str((self.context.get("Execution") or {}).get("Id")))

    @property
    def is_open(self) -> bool:
        """Whether nothing that this frame belongs to has ended."""
        fan = self.parent
        while fan is not None:
            if not fan.is_open:
                return False
            fan = fan.attempt.frame.parent
        return True

    def assign(self, variables: dict[str, JSON]) -> None:
        if variables:
            self.variables = {**self.variables, **variables}


@dataclass(slots=True)
class Try:
    """One try of one visit of a state: the ``number``-th of its path.

    ``token`` is what somebody may answer a Task with.
    """

    frame: Frame
    state: State
    path: Path
    visit: Visit
    number: int
    token: str | None = None
    is_over: bool = False
    fan: Fan | None = None

    def retry(self, retrier: int, rng: Random) -> Try:
        """The next try after ``retrier`` spent one more attempt; this one is over."""
        self.is_over = True
        seen, frame, token = self.visit, self.frame, _token(self.state, rng)
        retries = {**seen.retries, retrier: seen.retries.get(retrier, 0) + 1}
        entered = seen.context["State"]["EnteredTime"]
        context = _visit_context(frame.context, self.state, entered, sum(retries.values()), token)
        identity = frame.visits.identity(self.path, self.number, retries)
        visit = Visit(seen.input, context, frame.variables, retries, seen.entered_event, identity)
        return Try(frame, self.state, self.path, visit, self.number, token)


def first_try(frame: Frame, state: State, input: JSON, now: float, rng: Random) -> Try:
    """The first try of a new visit of ``state`` at ``now`` (epoch seconds)."""
    token = _token(state, rng)
    context = _visit_context(frame.context, state, _moment(now), 0, token)
    path = (*frame.path, state.name)
    number = frame.visits.enter(path)
    identity = frame.visits.identity(path, number, {})
    visit = Visit(input, context, frame.variables, {}, frame.history.enter(), identity)
    return Try(frame, state, path, visit, number, token)


# Thousands of states may be entered at one virtual moment.
_moment = lru_cache(maxsize=256)(format_timestamp)


def _token(state: State, rng: Random) -> str | None:
    if state.resource is None or not state.resource.endswith(_SUBMITTED):
        return None
    return f"{rng.getrandbits(256):064x}"


def _visit_context(
    around: dict[str, Any], state: State, entered: str, retries: int, token: str | None
) -> dict[str, Any]:
    """``around`` with ``State`` and, with a token, ``Task``."""
    seen: dict[str, Any] = {"EnteredTime": entered, "Name": state.name}
    if state.type in _COUNTS_RETRIES:
        seen["RetryCount"] = retries
    if token is not None:
        return {**around, "State": seen, "Task": {"Token": token}}
    return {**around, "State": seen}


@dataclass(slots=True)
class Fan:
    """The children of a Parallel or Map: how many started and finished, and their results.

    ``inputs`` is what each iteration started with, its item where it did not.
    """

    attempt: Try
    effect: FanOut
    started: int = 0
    finished: int = 0
    is_open: bool = True
    results: list[JSON] = field(init=False)
    inputs: list[JSON] = field(init=False)
    failures: dict[int, tuple[str | None, str | None]] = field(default_factory=dict)
    run: MapRun | None = None

    def __post_init__(self) -> None:
        self.results = [None] * self.effect.count
        self.inputs = list(self.effect.items or ())
        state = self.attempt.state
        if isinstance(state, MapState) and state.is_distributed:
            self.run = map_run(state, self.attempt.visit)

    @property
    def has_room(self) -> bool:
        """Whether one more child may start now."""
        window = self.effect.max_concurrency or self.effect.count
        return self.started < self.effect.count and self.started - self.finished < window


def child_frame(fan: Fan, index: int, input: JSON, now: float) -> Frame:
    """The frame of child ``index``, which starts with ``input`` at ``now`` (epoch seconds)."""
    outer, state = fan.attempt.frame, fan.attempt.state
    path = (*fan.attempt.path, index)
    history, context = outer.history, outer.context
    if not isinstance(state, MapState):
        return Frame(state.branches[index], path, context, fan, index, history, outer.variables)
    assert state.processor is not None and fan.effect.items is not None
    item, keyed = fan.effect.items[index], fan.effect.keyed
    if fan.run is None:
        history.add()  # MapIterationStarted
        context = iteration_context(context, index, item, keyed=keyed)
        return Frame(state.processor, path, context, fan, index, history, outer.variables)
    context = child_context(context, fan.run, index, item, input, _moment(now), keyed=keyed)
    return Frame(state.processor, path, context, fan, index, History(history.is_told))
