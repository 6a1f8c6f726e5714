"""A whole machine driven on a virtual clock: no I/O, one seed gives one history."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from dcf.asl.context import execution_context, iteration_context
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
    WriteResults,
)
from dcf.asl.errors import (
    DATA_LIMIT_EXCEEDED,
    HEARTBEAT_TIMEOUT,
    RUNTIME,
    TIMEOUT,
    EvaluationError,
)
from dcf.asl.execution import (
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
from dcf.asl.frame import Fan, Frame, Try
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON, PAYLOAD_LIMIT, size
from dcf.asl.state import MapState
from dcf.asl.step import step
from dcf.asl.timestamp import format_timestamp
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    Event,
    Joined,
    TaskFailed,
    TimerFired,
    Visit,
)
from dcf.asl.work_steps import item_input

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
) -> Execution:
    """Run ``machine`` on ``input`` to its end.

    ``call_task`` answers each Task at once or ``after_s`` seconds of virtual time. Waits move
    ``clock``. ``context`` replaces members of the context object (``Execution``,
    ``StateMachine``). With ``aws_limits`` a payload over 262,144 bytes is
    ``States.DataLimitExceeded``. An execution of more than ``max_steps`` steps fails with
    ``States.Runtime``.
    """
    run = _Run(machine, call_task, clock, rng, aws_limits, max_steps)
    return run.execute(input, execution_context(input, name, clock.now, rng) | dict(context or {}))


class _Run:
    """One execution: an agenda of what happens when, and the end once there is one."""

    def __init__(
        self,
        machine: StateMachine,
        call_task: CallTask,
        clock: VirtualClock,
        rng: Random,
        aws_limits: bool,
        max_steps: int,
    ) -> None:
        self._machine = machine
        self._call_task = call_task
        self._clock = clock
        self._rng = rng
        self._limit = PAYLOAD_LIMIT if aws_limits else None
        self._steps_left = max_steps
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._trace: list[TraceEntry] = []
        self._end: Execution | None = None

    def execute(self, input: JSON, context: dict[str, Any]) -> Execution:
        if self._machine.timeout_s is not None:
            self._later(self._machine.timeout_s, lambda: self._finish("TIMED_OUT", error=TIMEOUT))
        frame = Frame(self._machine, (), context, None, 0)
        self._enter(frame, self._machine.start_at, input)
        while self._agenda and self._end is None:
            at, _, happen = heapq.heappop(self._agenda)
            self._clock.now = max(self._clock.now, at)
            happen()
        if self._end is None:
            cause = "a task never answers and nothing limits its time"
            self._finish("TIMED_OUT", error=TIMEOUT, cause=cause)
        assert self._end is not None
        return self._end

    def _enter(self, frame: Frame, name: str, input: JSON) -> None:
        attempt = Try(frame, name, input, {}, format_timestamp(self._clock.now))
        self._note(attempt.path, "entered", input)
        self._later(0.0, lambda: self._step(attempt, Entered()))

    def _step(self, attempt: Try, event: Event) -> None:
        if not attempt.frame.is_open or attempt.is_over:
            return
        if self._steps_left == 0:
            self._finish("FAILED", error=RUNTIME, cause="the execution takes too many steps")
            return
        self._steps_left -= 1
        state, visit = attempt.state, attempt.visit()
        effect = step(state, visit, event, self._rng)
        if self._too_large(effect):
            cause = f"the result of `{state.name}` is larger than {self._limit} bytes"
            effect = self._limited(attempt, event, visit, cause)
        self._apply(attempt, visit, effect)

    def _too_large(self, effect: Effect) -> bool:
        if self._limit is None or not isinstance(effect, (Transition, Finish, RunTask)):
            return False
        payload = effect.arguments if isinstance(effect, RunTask) else effect.output
        return size(payload) > self._limit

    def _limited(self, attempt: Try, event: Event, visit: Visit, cause: str) -> Effect:
        if attempt.state.type == "Task":
            return step(attempt.state, visit, TaskFailed(DATA_LIMIT_EXCEEDED, cause), self._rng)
        if isinstance(event, (Joined, ChildFailed)):
            return step(attempt.state, visit, ChildFailed(DATA_LIMIT_EXCEEDED, cause), self._rng)
        return Failure(DATA_LIMIT_EXCEEDED, cause)

    def _apply(self, attempt: Try, visit: Visit, effect: Effect) -> None:
        if isinstance(effect, RunTask):
            self._run_task(attempt, effect)
        elif isinstance(effect, FanOut):
            self._fan_out(attempt, visit, effect)
        elif isinstance(effect, RetryAfter):
            self._retry(attempt, effect)
        elif isinstance(effect, Transition):
            attempt.is_over = True
            self._note(attempt.path, "exited", effect.output)
            self._enter(attempt.frame, effect.next, effect.output)
        elif isinstance(effect, Finish):
            attempt.is_over = True
            self._note(attempt.path, "exited", effect.output)
            self._finish_frame(attempt.frame, effect.output)
        elif isinstance(effect, Failure):
            attempt.is_over = True
            self._fail_frame(attempt, effect)
        elif isinstance(effect, (ReadItems, WriteResults)):
            raise NotImplementedError("object stores")
        else:
            now = self._clock.now
            wait = effect.seconds if isinstance(effect, WaitFor) else max(0.0, effect.at - now)
            self._note(attempt.path, "wait", wait)
            self._later(wait, lambda: self._step(attempt, TimerFired()))

    def _run_task(self, attempt: Try, effect: RunTask) -> None:
        self._note(attempt.path, "task", effect.arguments)
        state, attempts = attempt.state, sum(attempt.retries.values())
        call = TaskCall(attempt.path, state.resource, effect.arguments, attempts)
        answer = self._call_task(call)
        if not isinstance(answer, Answer):
            answer = Answer(answer)
        limits = [(effect.timeout_s, TIMEOUT), (effect.heartbeat_s, HEARTBEAT_TIMEOUT)]
        if answer.event is not None:
            event: Event = answer.event
            self._later(answer.after_s, lambda: self._step(attempt, event))
            limits.pop()  # a task that answers is taken to send its heartbeats
        for seconds, error in limits:
            if seconds is not None:
                self._later(seconds, self._task_stops(attempt, error))

    def _task_stops(self, attempt: Try, error: str) -> Callable[[], None]:
        return lambda: self._step(attempt, TaskFailed(error, ""))

    def _retry(self, attempt: Try, effect: RetryAfter) -> None:
        self._note(attempt.path, "retry", effect.seconds)
        following = attempt.again(effect.retrier)
        self._later(effect.seconds, lambda: self._step(following, Entered()))

    def _fan_out(self, attempt: Try, visit: Visit, effect: FanOut) -> None:
        fan = Fan(attempt, visit, effect)
        attempt.fan = fan
        if effect.count == 0:
            self._later(0.0, lambda: self._step(attempt, Joined([])))
            return
        for _ in range(fan.window):
            self._start_child(fan)

    def _start_child(self, fan: Fan) -> None:
        index = fan.started
        fan.started += 1
        state = fan.attempt.state
        path = (*fan.attempt.path, index)
        if not isinstance(state, MapState):
            frame = Frame(state.branches[index], path, fan.attempt.frame.context, fan, index)
            self._enter(frame, frame.machine.start_at, fan.effect.input)
            return
        assert state.processor is not None and fan.effect.items is not None
        item = fan.effect.items[index]
        try:
            input = item_input(state, fan.visit, index, item, self._rng)
        except EvaluationError as error:
            failed = Failure(error.error, error.cause)
            self._later(0.0, lambda: self._fail_fan(fan, failed))
            return
        context = iteration_context(fan.attempt.frame.context, index, item)
        frame = Frame(state.processor, path, context, fan, index)
        self._enter(frame, frame.machine.start_at, input)

    def _finish_frame(self, frame: Frame, output: JSON) -> None:
        fan = frame.parent
        if fan is None:
            self._finish("SUCCEEDED", output=output)
            return
        fan.results[frame.index] = output
        fan.finished += 1
        if fan.finished == fan.effect.count:
            fan.is_open = False
            self._step(fan.attempt, Joined(fan.results))
        elif fan.started < fan.effect.count:
            self._start_child(fan)

    def _fail_frame(self, attempt: Try, failure: Failure) -> None:
        problem = {"Error": failure.error, "Cause": failure.cause}
        self._note(attempt.path, "failed", problem)
        fan = attempt.frame.parent
        if fan is None:
            self._finish("FAILED", error=failure.error, cause=failure.cause)
            return
        self._fail_fan(fan, failure)

    def _fail_fan(self, fan: Fan, failure: Failure) -> None:
        if fan.is_open:
            fan.is_open = False
            self._step(fan.attempt, ChildFailed(failure.error, failure.cause))

    def _finish(
        self, status: Status, output: JSON = None, error: str = "", cause: str = ""
    ) -> None:
        self._end = Execution(status, output, error, cause, tuple(self._trace))

    def _later(self, seconds: float, happen: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._agenda, (self._clock.now + seconds, self._order, happen))

    def _note(self, path: Path, moment: Moment, value: JSON) -> None:
        self._trace.append(TraceEntry(self._clock.now, path, moment, value))
