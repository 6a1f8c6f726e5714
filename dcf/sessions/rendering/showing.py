"""Showing agents the session that they work in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dcf.agents import AgentRuntime
from dcf.sessions.draft import page_name
from dcf.sessions.rendering.board import is_there, put
from dcf.sessions.rendering.context import OBSERVED, earlier_observations, session_context
from dcf.sessions.rendering.guidelines import strategist_guidelines
from dcf.sessions.rendering.log import delegation_log
from dcf.sessions.rendering.rendered import Rendered
from dcf.sessions.rendering.task import task_context
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

if TYPE_CHECKING:
    from dcf.sessions.sessions import Sessions

# Together they hold as many tasks as a block shows at the most.
_PAGES = 2


async def show_session(
    sessions: Sessions, session_id: str, runtime: AgentRuntime, agent_id: str
) -> tuple[str, ...]:
    """Write ``session_context`` and ``delegation_log``, for a conductor or strategist; the labels
    of those that were out of date. Raises UnknownSession, UnknownAgent."""
    session, paged = await _read(sessions, session_id)
    views = (session_context(session, paged), delegation_log(session, paged))
    return await _put_all(runtime, agent_id, views)


async def show_observed(
    sessions: Sessions, session_id: str, runtime: AgentRuntime, agent_id: str, told: str
) -> tuple[str, ...]:
    """Write ``earlier_observations``, which ``told`` are; its label if it was out of date. An agent
    that was never told any, and is not told now, gets no block. Raises UnknownSession,
    UnknownAgent."""
    if not told and not await is_there(runtime, agent_id, OBSERVED):
        return ()
    session = await sessions.get(session_id)
    return await _put_all(runtime, agent_id, [earlier_observations(session, told)])


async def show_task(
    sessions: Sessions, session_id: str, companion_id: str, runtime: AgentRuntime, agent_id: str
) -> tuple[str, ...]:
    """Write ``session_context`` and ``task_context``, for a companion; the labels of those that
    were out of date. Raises UnknownSession, UnknownAgent."""
    session, paged = await _read(sessions, session_id)
    views = (session_context(session, paged), task_context(session, companion_id, paged))
    return await _put_all(runtime, agent_id, views)


async def show_guidelines(
    runtime: AgentRuntime, agent_id: str, document: Mapping[str, Any]
) -> tuple[str, ...]:
    """Write ``strategist_guidelines``; its label if it was out of date. Raises UnknownAgent."""
    return await _put_all(runtime, agent_id, [strategist_guidelines(document)])


async def _put_all(
    runtime: AgentRuntime, agent_id: str, views: Iterable[Rendered]
) -> tuple[str, ...]:
    return tuple([view.label for view in views if await put(runtime, agent_id, view)])


async def _read(sessions: Sessions, session_id: str) -> tuple[Session, list[SessionTask]]:
    """The session, and the newest of its closed tasks that are on pages. A page never changes, so
    both are of one revision."""
    session = await sessions.get(session_id)
    pages = session.head.pages
    names = [page_name(number) for number in range(max(0, pages - _PAGES), pages)]
    if not names:
        return session, []
    record = (await sessions.records.read(session_id, names)).record
    return session, [SessionTask.parse(raw) for name in names for raw in record[name].values()]
