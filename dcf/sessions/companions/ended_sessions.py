"""What a session that is over leaves to be known beyond its runs: tasks that nobody ever had, tasks
that were given up, and guidelines that did harm.

It is made without a model, and of names, as what its tasks leave is; texts stand in the note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from control_plane import (
    BadName,
    ConductorStore,
    CorruptHistory,
    SessionDocument,
    UnknownSession,
    read_record_history,
)
from dcf.knowledge import TASK_WORKFLOW
from dcf.memory import SYSTEM, Memory, NewObservation, Origin
from dcf.memory.extraction import trimmed
from dcf.sessions.companions.delegation_observer import facts_of, name_of, note_of
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import SessionTask
from dcf.worker import MARGIN_MS
from dcf.workflow import plain_error

MOST = 5
"""Observations of one session."""
_BY = SYSTEM.because("observations of a session")
_SOURCE = "session that is over"
_PAGE = 100
_PATIENCE_MS = 60_000
"""Whoever takes an order back sooner has changed their mind: nobody gave it up."""
_FOLLOWED = "dependency_failed"


class EndedSessions:
    """Keeps the observations of ``sessions`` that are over, as of ``project``: of each exactly
    once, however many processes look."""

    def __init__(self, sessions: Sessions, memory: Memory, project: str) -> None:
        self._sessions = sessions
        self._memory = memory
        self._project = project
        store = sessions.store
        self._conductors = ConductorStore(store.backend, cluster=store.cluster)

    async def sweep(self) -> int:
        """Look at the sessions that ended since the last sweep; how many left something. Raises
        ControlPlaneError, MemoryProblem."""
        now_ms = await self._sessions.store.now_ms()
        since = await self._memory.observations.observed_until(_SOURCE, now_ms)
        found, after = 0, None
        while True:
            page = await self._sessions.records.page(after=after, limit=_PAGE)
            for record in page.records:
                if record.updated_at >= since:
                    found += await self._observe(record)
            after = page.after
            if after is None:
                break
        reached = now_ms - MARGIN_MS
        await self._memory.observations.observe_until(_SOURCE, reached, now_ms, by=_BY)
        return found

    async def _observe(self, record: SessionDocument) -> bool:
        try:
            session = await self._sessions.get(record.id)
            if not session.is_over:
                return False
            tasks = await self._sessions.tasks(record.id)
        except UnknownSession:
            return False
        harmful = [
            one for name in session.head.conductors for one in await self._harmful(name, session)
        ]
        new = observations_of_session(session, tasks, harmful, self._project)
        if not new:
            return False
        source, event = Origin("session", record.id), f"end/{record.created_at}"
        return bool(await self._memory.observations.observe(source, event, *new, by=_BY))

    async def _harmful(self, conductor_id: str, session: Session) -> list[str]:
        """The texts of guidelines that were withdrawn by what happened in the session, with why."""
        found: list[str] = []
        try:
            async for one in read_record_history(self._conductors, conductor_id):
                event = one.event
                if (
                    event.get("type") == "GuidelinesPublished"
                    and event.get("session_id") == session.session_id
                    and one.at >= session.head.created_at
                ):
                    found += [
                        f"{change.get('text')} ({change.get('why')})"
                        for change in event.get("changes") or ()
                        if change.get("what") == "withdrawn"
                    ]
        except (CorruptHistory, BadName):
            # Nothing that can be believed, or a conductor that cannot have guidelines.
            return []
        return found


def observations_of_session(
    session: Session, tasks: Sequence[SessionTask], harmful: Sequence[str], project: str = ""
) -> tuple[NewObservation, ...]:
    """What a session that is over leaves to be known; most leave nothing. ``harmful`` are
    guidelines that were withdrawn in it."""
    first: dict[str, NewObservation] = {}
    for one in _left(session.session_id, tasks, project):
        first.setdefault(one.title, one)
    for one in _withdrawn(session, tasks, harmful, project):
        first.setdefault(one.title, one)
    return tuple(map(trimmed, first.values()))[:MOST]


def _left(session_id: str, tasks: Sequence[SessionTask], project: str) -> Iterator[NewObservation]:
    """Tasks that nobody had, and those that were cancelled after somebody had not done them."""
    for task in tasks:
        error = (task.error or {}).get("code", "")
        if task.kind != "companion" or task.is_namesake or error == _FOLLOWED:
            continue
        waited_ms = (task.finished_at or task.delegated_at) - task.delegated_at
        taken = [one for one in task.attempts if one.why is not None]
        if task.status == "cancelled" and taken:
            title = f"given up after {name_of(taken[-1].specialization)} had not done it"
        elif task.attempts or task.status not in ("failed", "cancelled"):
            continue
        elif task.status == "failed":
            title = f"no companion ever had it ({plain_error(error)})"
        elif waited_ms >= _PATIENCE_MS:
            title = "given up, no companion ever had it"
        else:
            continue
        wanted = task.specialization
        asked = [f"It was for {name_of(wanted)}."] if wanted else []
        yield NewObservation(
            "discovery",
            f"{task.task_type}: {title}",
            Origin("session", session_id, state=task.task_id),
            project=project,
            workflow=f"{TASK_WORKFLOW}{task.task_type}",
            subtitle="A task that was delegated in a session.",
            facts=(*asked, *facts_of(task)),
            concepts=("gotcha",),
            note="\n".join((*note_of(task), *filter(None, [task.reason]))),
            at=task.finished_at,
        )


def _withdrawn(
    session: Session, tasks: Sequence[SessionTask], harmful: Sequence[str], project: str
) -> Iterator[NewObservation]:
    """What a guideline was about is told as far as it names types of tasks and skills."""
    types = dict.fromkeys(task.task_type for task in tasks)
    skills = dict.fromkeys(skill for task in tasks for skill in task.skills)
    for text in harmful:
        about = [name for name in types if name in text]
        if not about:
            continue
        yield NewObservation(
            "discovery",
            f"{about[0]}: a guideline made it worse and was withdrawn",
            Origin("session", session.session_id),
            project=project,
            workflow=f"{TASK_WORKFLOW}{about[0]}",
            subtitle="It was published by an analysis, followed, and did harm.",
            facts=tuple(f"It named {skill}." for skill in skills if skill in text),
            concepts=("gotcha",),
            note=text,
            at=session.head.ended_at,
        )
