"""Who does the work of a Task: a handler registered in this process, or an agent."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from control_plane import JSON, Disconnected, MissingBlob, RefusedForGood, cut_text
from dcf.asl import MEMORY
from dcf.worker.current_work import Work, begin_work
from dcf.worker.lease_lost import LeaseLost
from dcf.workflow import Failed, Outcome, Succeeded, Task

if TYPE_CHECKING:
    from dcf.worker.task_memory import HandlerNotes

log = logging.getLogger(__name__)

Beat = Callable[[], None]
"""Tells that the task made progress (``HeartbeatSeconds`` counts from here)."""

# Characters of a line of a traceback in the log, and of both ends of one that is cut.
_LONGEST = 4_000

TOKEN_SUFFIX = ".waitForTaskToken"

Handler = Callable[[JSON], Awaitable[JSON]]
"""An in-process handler of a ``Resource``: arguments in, result out."""

_CANCELLED_FROM_INSIDE = Failed(
    "States.TaskFailed", "CancelledError: the work was cancelled from inside"
)


class TaskFailure(Exception):
    """Raised by a handler to fail its Task with an error name that Retry and Catch can match."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(f"{error}: {cause}")
        self.error = error
        self.cause = cause


class AgentPerformer(Protocol):
    """What performs Tasks that carry an AgentBinding."""

    async def perform(self, task: Task, beat: Beat) -> Outcome: ...


class Performer:
    """Sends a Task to the handler of its ``Resource`` or to the agents. ``notes_of`` gives the
    memory of a handler's Task."""

    def __init__(
        self,
        handlers: Mapping[str, Handler] | None = None,
        agents: AgentPerformer | None = None,
        *,
        notes_of: Callable[[Task], HandlerNotes] | None = None,
    ) -> None:
        self._handlers = dict(handlers or {})
        self._agents = agents
        self._notes_of = notes_of

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of one Task; a failure of the work is an outcome, not an exception."""
        handler = self._handler(task.state.resource or "")
        if handler is not None:
            outcome = await _apart(_contained(lambda: self._result(handler, task, beat), task))
            if isinstance(outcome, Failed) and self._notes_of:
                await self._notes_of(task).note_failure(outcome.error or "", outcome.cause or "")
            return outcome
        binding = task.state.binding
        # A Resource that says only in which memory its handler works is no work for an agent.
        if binding is None or (task.state.resource and binding.keys() == {MEMORY}):
            known = ", ".join(sorted(self._handlers)) or "none"
            return Failed(
                "DCF.NoHandler",
                f"no handler for Resource {task.state.resource!r} in this worker (known: {known}), "
                "and the state has no AgentBinding for an agent",
            )
        if self._agents is None:
            return Failed("DCF.NoHandler", "this worker runs no agents")
        agents = self._agents
        return await _contained(lambda: agents.perform(task, beat), task)

    def _handler(self, resource: str) -> Handler | None:
        """The handler of ``resource``; one that ends in ``.waitForTaskToken`` is also served by
        the handler of the rest, which then hands on ``current_work().task_token``."""
        return self._handlers.get(resource) or self._handlers.get(
            resource.removesuffix(TOKEN_SUFFIX)
        )

    async def _result(self, handler: Handler, task: Task, beat: Beat) -> Outcome:
        process = os.getpid()
        notes = self._notes_of(task) if self._notes_of else None
        begin_work(Work(task.lease.idempotency_key, task.lease.fence, beat, task.token, notes))
        try:
            result = await handler(task.arguments)
            if notes is not None:
                await notes.keep(result)
            return Succeeded(result)
        finally:
            if os.getpid() != process:
                # The handler forked: its child would go on as this worker, on the same connections.
                os._exit(os.EX_SOFTWARE)


async def _apart(work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """The outcome of ``work`` in an asyncio task of its own: a handler that cancels the task that
    it runs in fails its Task. In the worker's task it could not be told from the worker, which
    cancels where a lease is lost."""
    mine = asyncio.current_task()
    try:
        return await asyncio.create_task(work)
    except asyncio.CancelledError:
        if mine is not None and mine.cancelling():
            raise
        return _CANCELLED_FROM_INSIDE


async def _contained(work: Callable[[], Awaitable[Outcome]], task: Task) -> Outcome:
    """The outcome of ``work``: whatever breaks in it fails its Task, not the worker. Raises
    MissingBlob where the data of its run are damaged."""
    mine = asyncio.current_task()
    try:
        return await work()
    except TaskFailure as failure:
        # Whatever a handler put there.
        error, cause = _storable(failure.error or ""), _storable(failure.cause or "")
        return Failed(error or "States.TaskFailed", cause)
    except LeaseLost:
        raise
    except (Disconnected, RefusedForGood) as error:
        # No outcome of the work: it is done again, under the same keys, when Redis can be had.
        raise LeaseLost(error.code) from error
    except asyncio.CancelledError:
        if mine is not None and mine.cancelling():
            raise
        return _CANCELLED_FROM_INSIDE
    except (SystemExit, KeyboardInterrupt) as error:
        # What a script says to end its process; here it ends its Task.
        log.warning("the work of a Task raised %s", type(error).__name__)
        return Failed("States.TaskFailed", _said_of(error).rstrip(": "))
    except GeneratorExit:
        # Who closes what is left behind runs outside of its task, and nothing may be awaited then.
        if mine is None or not _runs_now(mine):
            raise
        return Failed("States.TaskFailed", "GeneratorExit: raised by the work itself")
    except BaseException as error:
        if isinstance(error, MissingBlob) and error.fields["workflow_id"] == task.lease.workflow_id:
            raise
        # Not Exception: frameworks have errors of their own beside it, as PyO3's PanicException.
        log.warning("the work of a Task broke\n%s", _traceback_of(error))
        return Failed("States.TaskFailed", _said_of(error))


def _traceback_of(error: BaseException) -> str:
    """Its traceback; what the error itself says may be of any length, and have any number of
    causes."""
    lines = traceback.format_exception(error)
    text = "".join(f"{cut_text(line.rstrip(), _LONGEST)}\n" for line in lines).rstrip()
    cut = len(text) - 2 * _LONGEST
    if cut <= 0:
        return text
    return f"{text[:_LONGEST]}\n… [{cut:,} characters cut] …\n{text[-_LONGEST:]}"


def _said_of(error: BaseException) -> str:
    """Its type and text; an error of somebody's own may have none that can be had."""
    return f"{type(error).__name__}: {_storable(error)}"


def _storable(value: object) -> str:
    """``value`` as a text that can be stored."""
    try:
        text = str(value)
    except Exception as broken:  # noqa: BLE001 - whatever a __str__ of others raises
        text = f"(no text: its __str__ raised {type(broken).__name__})"
    return text.encode("utf-8", "replace").decode()


def _runs_now(task: asyncio.Task[object]) -> bool:
    """Whether this is called in ``task``, and not from outside of it, with a loop or without."""
    with suppress(RuntimeError):
        return asyncio.current_task() is task
    return False
