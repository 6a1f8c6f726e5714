"""A whole machine driven on a virtual clock: no I/O, one seed gives one history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from control_plane import BadDocument, payload
from dcf.asl.context import execution_context
from dcf.asl.effect import (
    Effect,
    Failure,
    FanOut,
    Finish,
    ReadItems,
    RetryAfter,
    RunTask,
    Transition,
    WaitFor,
    WaitUntil,
    WriteResults,
)
from dcf.asl.errors import HEARTBEAT_TIMEOUT, RUNTIME, TIMEOUT, EvaluationError
from dcf.asl.machine import StateMachine
from dcf.asl.maps.map_items import item_input
from dcf.asl.maps.object_store import MemoryObjects, ObjectStore, read_items, write_results
from dcf.asl.payload import JSON, PAYLOAD_LIMIT
from dcf.asl.state import MapState
from dcf.asl.step import step
from dcf.asl.storage import refusal, refused, unstorable
from dcf.asl.timestamp import LATEST
from dcf.asl.trial.agenda import Agenda
from dcf.asl.trial.execution import (
    Answer,
    CallTask,
    Execution,
    Moment,
    Path,
    Status,
    TaskCall,
    TraceEntry,
    VirtualClock,
)
from dcf.asl.trial.frame import Fan, Frame, History, Try, child_frame, first_try
from dcf.asl.visit import ChildFailed, Entered, Event, Joined, TaskFailed, TimerFired

MAX_STEPS = 100_000


def interpret(
    machine: StateMachine,
    input: JSON,
    *,
    call_task: CallTask,
    clock: VirtualClock,
    rng: Random,
    name: str = "execution",
    context: Mapping[str, Any] | None = None,
    aws_limits: bool = False,
    max_steps: int = MAX_STEPS,
    objects: ObjectStore | None = None,
    count_events: bool = True,
    delay: Callable[[Path], float] | None = None,
) -> Execution:
    """Run ``machine`` on ``input`` to its end.

    ``call_task`` answers each Task at once or ``after_s`` seconds of virtual time; of one that
    waits for its token, it answers for whoever has the token. Waits move ``clock``. ``context``
    replaces members of the context object (``Execution``, ``StateMachine``). ``objects`` are read
    and written by distributed Maps. With ``aws_limits`` a payload over 262,144 bytes is
    ``States.DataLimitExceeded``. An execution of more than ``max_steps`` steps fails with
    ``States.Runtime``. Without ``count_events`` causes leave out the number of the history event
    that entered the state, as those of the engine do. ``delay`` gives the virtual seconds that pass
    between the moment when the state at a path is entered and its first step; without it none do.
    """
    store = MemoryObjects() if objects is None else objects
    limit = PAYLOAD_LIMIT if aws_limits else None
    history = History(count_events)
    run = _Run(machine, call_task, clock, rng, limit, max_steps, store, history, delay)
    return run.execute(input, execution_context(input, name, clock.now, rng) | dict(context or {}))


class _Run:
    """One execution: an agenda of what happens when, and the end once there is one."""

    def __init__(
        self,
        machine: StateMachine,
        call_task: CallTask,
        clock: VirtualClock,
        rng: Random,
        limit: int | None,
        max_steps: int,
        objects: ObjectStore,
        history: History,
        delay: Callable[[Path], float] | None,
    ) -> None:
        self._machine = machine
        self._call_task = call_task
        self._clock = clock
        self._rng = rng
        self._limit = limit
        self._steps_left = max_steps
        self._objects = objects
        self._history = history
        self._delay = delay
        self._agenda = Agenda(clock)
        self._trace: list[TraceEntry] = []
        self._end: Execution | None = None

    def execute(self, input: JSON, context: dict[str, Any]) -> Execution:
        if self._machine.timeout_s is not None:
            out_of_time = partial(self._finish, "TIMED_OUT", error=TIMEOUT)
            self._agenda.after(self._machine.timeout_s, out_of_time)
        frame = Frame(self._machine, (), context, None, 0, self._history)
        self._enter(frame, self._machine.start_at, input)
        while self._end is None:
            happen = self._agenda.next()
            if happen is None:
                cause = "a task never answers and nothing limits its time"
                self._finish("TIMED_OUT", error=TIMEOUT, cause=cause)
            elif self._clock.now > LATEST:
                cause = "the execution goes on after the year 9999"
                self._finish("TIMED_OUT", error=TIMEOUT, cause=cause)
            else:
                happen()
        return self._end

    def _enter(self, frame: Frame, name: str, input: JSON) -> None:
        attempt = first_try(frame, frame.machine.states[name], input, self._clock.now, self._rng)
        self._note(attempt.path, "entered", input)
        seconds = 0.0 if self._delay is None else self._delay(attempt.path)
        self._agenda.after(seconds, partial(self._step, attempt, Entered()))

    def _step(self, attempt: Try, event: Event, told: int = 0) -> None:
        """Take the next step; ``told`` events of the history end the state unless it is retried."""
        if attempt.is_over or not attempt.frame.is_open:
            return
        if self._steps_left == 0:
            self._finish("FAILED", error=RUNTIME, cause="the execution takes too many steps")
            return
        self._steps_left -= 1
        effect = self._effect(attempt, event)
        attempt.frame.history.fail(attempt.state, event, effect, told)
        if isinstance(event, (TaskFailed, ChildFailed)) and isinstance(effect, Transition):
            self._note(attempt.path, "caught", _problem(event.error, event.cause))
        _APPLY[type(effect)](self, attempt, effect)

    def _effect(self, attempt: Try, event: Event) -> Effect:
        """The next effect of the state; a result that the engine could not store is refused."""
        effect = step(attempt.state, attempt.visit, event, self._rng, limit=self._limit)
        why = refusal(effect, attempt.frame.variables)
        if why is None:
            return effect
        visit, told = unstorable(attempt.state, attempt.visit, why)
        effect = step(attempt.state, visit, told, self._rng, limit=self._limit)
        # What Catch makes of it may not be stored either.
        why = refusal(effect, attempt.frame.variables)
        return effect if why is None else refused(why)

    def _go_on(self, attempt: Try, effect: Transition) -> None:
        self._leave(attempt, effect)
        self._enter(attempt.frame, effect.next, effect.output)

    def _end_frame(self, attempt: Try, effect: Finish) -> None:
        self._leave(attempt, effect)
        self._finish_frame(attempt.frame, effect.output)

    def _leave(self, attempt: Try, effect: Transition | Finish) -> None:
        attempt.is_over = True
        attempt.frame.history.add()
        attempt.frame.assign(effect.assign)
        self._note(attempt.path, "exited", effect.output)

    def _wait_for(self, attempt: Try, effect: WaitFor) -> None:
        self._wait(attempt, effect.seconds)

    def _wait_until(self, attempt: Try, effect: WaitUntil) -> None:
        self._wait(attempt, max(0.0, effect.at - self._clock.now))

    def _wait(self, attempt: Try, seconds: float) -> None:
        self._note(attempt.path, "wait", seconds)
        self._agenda.after(seconds, partial(self._step, attempt, TimerFired()))

    def _run_task(self, attempt: Try, effect: RunTask) -> None:
        self._note(attempt.path, "task", effect.arguments)
        attempt.frame.history.start_task(attempt.state.resource)
        retries = sum(attempt.visit.retries.values())
        token = attempt.token if effect.waits_for_token else None
        resource, limits = attempt.state.resource, (effect.timeout_s, effect.heartbeat_s)
        call = TaskCall(attempt.path, resource, effect.arguments, retries, token, *limits)
        answer = self._call_task(call)
        if not isinstance(answer, Answer):
            answer = Answer(answer)
        # At one moment: timeout, heartbeat, answer, as in the engine.
        if effect.timeout_s is not None:
            self._end_task(attempt, TaskFailed(TIMEOUT, None), effect.timeout_s)
        if answer.event is None:
            if effect.heartbeat_s is not None:
                missed_at = answer.missed_heartbeat(effect.heartbeat_s)
                self._end_task(attempt, TaskFailed(HEARTBEAT_TIMEOUT, None), missed_at)
            return
        self._end_task(attempt, answer.event, answer.after_s)  # who answers sends heartbeats

    def _end_task(self, attempt: Try, event: Event, after_s: float) -> None:
        def happen() -> None:
            if not attempt.is_over and attempt.frame.is_open:
                attempt.frame.history.add()
                self._step(attempt, event)

        self._agenda.after(after_s, happen)

    def _read_items(self, attempt: Try, effect: ReadItems) -> None:
        self._agenda.now(partial(self._step, attempt, read_items(self._objects, effect)))

    def _write_results(self, attempt: Try, effect: WriteResults) -> None:
        self._agenda.now(partial(self._step, attempt, write_results(self._objects, effect)))

    def _retry(self, attempt: Try, effect: RetryAfter) -> None:
        problem = _problem(effect.error, effect.cause)
        self._note(attempt.path, "retry", {**problem, "Seconds": effect.seconds})
        following = attempt.retry(effect.retrier, self._rng)
        self._agenda.after(effect.seconds, partial(self._step, following, Entered()))

    def _fan_out(self, attempt: Try, effect: FanOut) -> None:
        fan = Fan(attempt, effect)
        attempt.frame.history.add(2 if fan.run is not None else 1)
        if effect.count == 0:
            self._agenda.now(partial(self._join, fan))
            return
        self._open_children(fan)

    def _open_children(self, fan: Fan) -> None:
        """Start one child, and before the clock moves all others that may run beside it.

        One after another, not all at once: what a child does at once is then done, and its frame
        gone, before the next one starts.
        """
        if fan.is_open and fan.has_room:
            self._start_child(fan)
            self._agenda.now(partial(self._open_children, fan))

    def _start_child(self, fan: Fan) -> None:
        index = fan.started
        fan.started += 1
        state, input = fan.attempt.state, fan.effect.input
        if isinstance(state, MapState):
            assert fan.effect.items is not None
            item = fan.effect.items[index]
            visit, keyed = fan.attempt.visit, fan.effect.keyed
            try:
                input = item_input(
                    state, visit, index, item, self._rng, limit=self._limit, keyed=keyed
                )
                payload.encode(input)
            except EvaluationError as error:
                self._refuse_child(fan, index, Failure(error.error, error.cause))
                return
            except BadDocument as error:
                self._refuse_child(fan, index, refused(error))
                return
            fan.inputs[index] = input
        frame = child_frame(fan, index, input, self._clock.now)
        self._enter(frame, frame.machine.start_at, input)

    def _refuse_child(self, fan: Fan, index: int, failure: Failure) -> None:
        self._agenda.now(partial(self._fail_child, fan, index, failure))

    def _finish_frame(self, frame: Frame, output: JSON) -> None:
        fan = frame.parent
        if fan is None:
            self._finish("SUCCEEDED", output=output)
            return
        fan.results[frame.index] = output
        if isinstance(fan.attempt.state, MapState):
            frame.history.add()  # MapIterationSucceeded
        self._close_child(fan)

    def _close_child(self, fan: Fan) -> None:
        fan.finished += 1
        if fan.finished == fan.effect.count:
            self._join(fan)
        elif fan.has_room:
            self._start_child(fan)

    def _join(self, fan: Fan) -> None:
        fan.is_open = False
        fan.attempt.frame.history.add(2 if fan.run is not None else 1)
        self._step(fan.attempt, Joined(fan.results, fan.failures, fan.inputs))

    def _fail_frame(self, attempt: Try, failure: Failure) -> None:
        attempt.is_over = True
        self._note(attempt.path, "failed", _problem(failure.error, failure.cause))
        frame = attempt.frame
        if frame.parent is None:
            self._finish("FAILED", error=failure.error, cause=failure.cause)
        else:
            is_task = attempt.state.type == "Task"
            self._fail_child(frame.parent, frame.index, failure, by_task=is_task)

    def _fail_child(self, fan: Fan, index: int, failure: Failure, *, by_task: bool = False) -> None:
        if not fan.is_open:
            return
        fan.failures[index] = (failure.error, failure.cause)
        if len(fan.failures) <= fan.effect.fail_limit:
            self._close_child(fan)
            return
        fan.is_open = False
        # MapIterationFailed (or MapRunFailed), or TaskStateAborted, which tells the end of a branch
        first = by_task or fan.effect.items is not None
        fan.attempt.frame.history.add(int(first))
        # MapStateFailed or ParallelStateFailed
        last = not by_task or fan.effect.items is not None
        self._step(fan.attempt, ChildFailed(failure.error, failure.cause), told=int(last))

    def _finish(
        self,
        status: Status,
        output: JSON = None,
        error: str | None = None,
        cause: str | None = None,
    ) -> None:
        self._end = Execution(status, output, error, cause, tuple(self._trace))

    def _note(self, path: Path, moment: Moment, value: JSON) -> None:
        self._trace.append(TraceEntry(self._clock.now, path, moment, value))


def _problem(error: str | None, cause: str | None) -> dict[str, JSON]:
    return {"Error": error or "", "Cause": cause or ""}


_APPLY: dict[type[Effect], Callable[[_Run, Try, Any], None]] = {
    Transition: _Run._go_on,
    Finish: _Run._end_frame,
    Failure: _Run._fail_frame,
    RunTask: _Run._run_task,
    FanOut: _Run._fan_out,
    RetryAfter: _Run._retry,
    WaitFor: _Run._wait_for,
    WaitUntil: _Run._wait_until,
    ReadItems: _Run._read_items,
    WriteResults: _Run._write_results,
}
