"""What a handler may know of the Task it works on.

Handlers take arguments and give a result; one that has effects asks for the rest::

    work = current_work()
    await bank.charge(..., key=work.idempotency_key)
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcf.worker.task_memory import HandlerNotes


@dataclass(frozen=True, slots=True)
class Work:
    """``idempotency_key`` is the same when a Task is taken over and another one when it is tried
    again; ``fence`` only grows; ``beat`` tells that there is progress (``HeartbeatSeconds``).
    ``task_token`` is what somebody else answers the Task with (``.waitForTaskToken``), or None.
    ``notes`` is the memory of the Task, None in a worker without one."""

    idempotency_key: str
    fence: int
    beat: Callable[[], None]
    task_token: str | None = field(default=None, repr=False)
    notes: HandlerNotes | None = field(default=None, repr=False)


_current: ContextVar[Work] = ContextVar("current_work")


def current_work() -> Work:
    """The work of the handler that calls. Raises LookupError outside a handler."""
    return _current.get()


def begin_work(work: Work) -> None:
    """Make ``work`` the current one of this asyncio task and those it starts."""
    _current.set(work)
