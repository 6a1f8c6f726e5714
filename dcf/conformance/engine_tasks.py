"""The Tasks of a run of the corpus: what ``CallTask`` answers, when virtual time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from control_plane import Store, split_path
from dcf import asl
from dcf.asl.trial import CallTask
from dcf.worker import Beat
from dcf.workflow import (
    Failed,
    Outcome,
    Succeeded,
    Task,
    TaskExpired,
    TaskSettled,
    beat_task,
    fail_task,
    succeed_task,
)

# Who answers shows progress this often within its HeartbeatSeconds.
_BEATS = 2.0


class CalledTasks:
    """Performs Tasks by asking ``call_task``. One that waits for its token is answered by a
    stranger, who has nothing but the token.

    ``endless``: a Task is never answered and has no limit of time, so the run never ends.
    """

    def __init__(self, call_task: CallTask, store: Store) -> None:
        self._call_task = call_task
        self._store = store
        self._strangers: set[asyncio.Task[None]] = set()
        self.endless = False

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        call = asl.TaskCall(
            split_path(task.lease.path),
            task.state.resource,
            task.arguments,
            sum(task.lease.retries.values()),
            task.token,
        )
        answer = self._call_task(call)
        if not isinstance(answer, asl.Answer):
            answer = asl.Answer(answer)
        if answer.event is None and task.timeout_s is None and task.heartbeat_s is None:
            self.endless = True
        if task.token is not None:
            self._start(self._answer(task.token, answer, task.heartbeat_s))
            return Succeeded(None)
        await _go_on(answer, task.heartbeat_s, lambda: _say(beat))
        event = answer.event
        if isinstance(event, asl.TaskFailed):
            return Failed(event.error, event.cause)
        assert event is not None, "work without an answer never ends"
        return Succeeded(event.result)

    async def stop(self) -> None:
        """Nobody answers any more."""
        for stranger in self._strangers:
            stranger.cancel()
        await asyncio.gather(*self._strangers, return_exceptions=True)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        stranger = asyncio.ensure_future(work)
        self._strangers.add(stranger)
        stranger.add_done_callback(self._strangers.discard)

    async def _answer(self, token: str, answer: asl.Answer, heartbeat_s: float | None) -> None:
        try:
            await _go_on(answer, heartbeat_s, lambda: _beat(self._store, token))
            if isinstance(answer.event, asl.TaskFailed):
                await fail_task(self._store, token, answer.event.error, answer.event.cause)
            elif answer.event is not None:
                await succeed_task(self._store, token, answer.event.result)
        except (TaskExpired, TaskSettled):
            # Too late: the Task has gone on without.
            return


async def _go_on(
    answer: asl.Answer,
    heartbeat_s: float | None,
    beat: Callable[[], Coroutine[None, None, None]],
) -> None:
    """Let the time of the work pass, showing progress as ``answer`` says."""
    passed = 0.0
    for moment in sorted(answer.heartbeats_s if answer.event is None else ()):
        await asyncio.sleep(moment - passed)
        passed = moment
        await beat()
    if answer.event is None:
        await asyncio.Event().wait()
    while heartbeat_s is not None and answer.after_s - passed > heartbeat_s / _BEATS:
        await asyncio.sleep(heartbeat_s / _BEATS)
        passed += heartbeat_s / _BEATS
        await beat()
    if answer.after_s > passed:
        await asyncio.sleep(answer.after_s - passed)


async def _say(beat: Beat) -> None:
    beat()


async def _beat(store: Store, token: str) -> None:
    await beat_task(store, token)
