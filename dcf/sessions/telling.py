"""Telling the graph of sessions and their tasks, through the outbox."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, cast

from control_plane import Outbox
from dcf.digest import digest
from dcf.knowledge import DelegationFact, Privacy, SessionFact, tell_fact
from dcf.sessions.facts import Facts
from dcf.sessions.figures import figures_of, specialization_of
from dcf.sessions.seat import agent_of
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

WORKFLOWS = 100
"""So many runs of whole workflows are told of a session."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_NAME = 100
DelegationStatus = Literal["succeeded", "failed", "partial", "cancelled"]
Closed = Callable[[str], Awaitable[Iterable[SessionTask]]]


class GraphFacts(Facts):
    """Puts facts where they wait for the graph; told again each is the same. ``closed`` gives the
    tasks of a session that were moved to pages. Raises OutboxFull."""

    def __init__(self, outbox: Outbox, closed: Closed) -> None:
        self._outbox = outbox
        self._closed = closed
        # Who writes the graph knows the secrets of its own surroundings, and cleans once more.
        self._privacy = Privacy()

    async def task(self, session: Session, task: SessionTask) -> None:
        """A broadcast is its children, each of which is told."""
        if task.kind != "group":
            await tell_fact(self._outbox, self._delegation(session, task))

    async def session(self, session: Session) -> None:
        """With the whole workflows that ended in it, however long ago."""
        paged = await self._closed(session.session_id) if session.head.pages else ()
        tasks = [*paged, *session.tasks.values()]
        workflows = [
            told_id(task.task_id)
            for task in tasks
            # Of one that is open it may still turn out that its run is somebody else's.
            if task.kind == "workflow" and not task.is_open and not task.is_namesake
        ]
        await tell_fact(self._outbox, self._session(session, tuple(workflows[:WORKFLOWS])))

    def _session(self, session: Session, workflows: tuple[str, ...]) -> SessionFact:
        head = session.head
        counts = head.counts
        return SessionFact(
            session_id=session.session_id,
            conductor_id=told_id(head.conductors[0]),
            objective=_whole(self._privacy.text(head.objective)),
            state=head.state,
            created_at=head.created_at,
            ended_at=head.ended_at,
            tasks={
                "delegated": counts.delegated,
                "succeeded": counts.succeeded,
                "failed": counts.failed,
                "partial": counts.partial,
                "cancelled": counts.cancelled,
            },
            companions=head.employed,
            workflows=workflows,
        )

    def _delegation(self, session: Session, task: SessionTask) -> DelegationFact:
        companion_id = task.companion_id
        companion = session.companions.get(companion_id or "") or session.former.get(
            companion_id or ""
        )
        figures = figures_of(task)
        return DelegationFact(
            task_id=_told_task(session, task),
            session_id=session.session_id,
            conductor_id=told_id(task.by),
            task_type=task.task_type,
            status=cast(DelegationStatus, task.status),
            delegated_at=task.delegated_at,
            finished_at=task.finished_at or session.updated_at,
            companion_id=companion_id and told_agent(session.session_id, companion_id),
            companion_name=self._name(companion.name if companion is not None else None),
            specialization=self._name(specialization_of(session, task)),
            skills=task.skills,
            error_code=self._name((task.error or {}).get("code")),
            priority=task.priority,
            started_at=task.started_at,
            attempts=max(1, len(task.attempts)),
            tier=figures.tier,
            model=self._name(figures.model),
            cost_usd=figures.cost_usd,
            tokens=figures.tokens,
            kind="workflow" if task.kind == "workflow" else "task",
        )

    def _name(self, text: str | None) -> str | None:
        return None if text is None else _whole(self._privacy.text(text, _NAME))


def told_id(name: str) -> str:
    """``name`` as the graph has it: one that does not have the form of an id is told by one that is
    always the same for it."""
    if _ID.fullmatch(name):
        return name
    return f"id-{digest(name.encode(errors='surrogatepass')).removeprefix('sha256:')[:16]}"


def _told_task(session: Session, task: SessionTask) -> str:
    """A task as the graph has it: as its run, unless that is somebody else's."""
    name = f"{session.session_id}.{task.task_id}" if task.is_namesake else task.task_id
    return told_id(name)


def told_agent(session_id: str, companion_id: str) -> str:
    """A companion as the graph has it: one that other sessions cannot have."""
    return told_id(agent_of(session_id, companion_id))


def _whole(text: str) -> str:
    """Without halves of characters."""
    return text.encode("utf-8", "replace").decode()
