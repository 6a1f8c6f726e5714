"""What the tasks of sessions leave to be known: what was delegated to whom and failed, or had to be
done again.

It is made without a model, and of names: the type of the task, skills, specializations, names of
errors. What the task was, and what was said of it, stands in the note, which no agent is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from control_plane import RunDocument, Store, UnknownSession
from dcf.memory import SYSTEM, Memory, NewObservation, Observation, Origin
from dcf.memory.extraction import one_line, trimmed
from dcf.sessions.errors import UnknownTask
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import DONE, SessionTask
from dcf.sessions.task_run import session_of_run
from dcf.worker import RunObserver, Sweep
from dcf.workflow import plain_error

_BY = SYSTEM.because("observations of a task of a session")
_LOST_MS = 86_400_000
"""A task whose run is over for so long, and that is open still, is not waited for any more."""
_ANYBODY = "a companion"
_NOT_IN_A_NAME = re.compile(r"[^\w.+]+")
_LONGEST_NAME = 40


class DelegationObserver(RunObserver):
    """Keeps the observations of the tasks of ``sessions``: of each exactly once."""

    source = "session"

    def __init__(
        self,
        sessions: Sessions,
        store: Store,
        memory: Memory,
        project: str,
        *,
        besides: Sequence[Sweep] = (),
    ) -> None:
        super().__init__(store, memory, project, besides=besides)
        self._sessions = sessions

    async def is_settled(self, run: RunDocument) -> bool:
        """Its session says how the task ended, which may be later than its run does."""
        if session_of_run(run) is None:
            return True
        if not await super().is_settled(run):
            return False
        task = await self._task(run)
        return task is None or not task.is_open or await self._is_left(run)

    async def keep(self, run: RunDocument) -> Sequence[Observation] | None:
        session_id = session_of_run(run)
        if session_id is None:
            return None
        source = Origin("session", session_id)
        event = f"{run.workflow_id}/{run.born}/{run.redrives}"
        if await self._memory.observations.is_observed(source, event):
            return None
        task = await self._task(run)
        new = () if task is None else observations_of_task(session_id, task, run, self._project)
        return await self._memory.observations.observe(source, event, *new, by=_BY)

    async def _task(self, run: RunDocument) -> SessionTask | None:
        try:
            return await self._sessions.task(session_of_run(run) or "", run.workflow_id)
        except (UnknownSession, UnknownTask):
            return None

    async def _is_left(self, run: RunDocument) -> bool:
        return await self._store.now_ms() - (run.finished_at or 0) > _LOST_MS


def observations_of_task(
    session_id: str, task: SessionTask, run: RunDocument, project: str = ""
) -> tuple[NewObservation, ...]:
    """What a task that is over leaves to be known; nothing where the first who had it did it, or
    nobody needs it any more."""
    has_failed = task.status == "failed"
    taken = [one for one in task.attempts if one.why is not None]
    if task.is_namesake or not (has_failed or (taken and task.status in DONE)):
        return ()
    last = task.attempts[-1].specialization if task.attempts else None
    who = "workers" if task.kind == "workflow" else name_of(last)
    error = plain_error((task.error or {}).get("code", ""))
    title = f"{who} failed with {error}" if has_failed else f"{who} did it at last"
    one = NewObservation(
        "discovery" if has_failed else "bugfix",
        f"{task.task_type}: {title}",
        Origin("session", session_id, state=task.task_id),
        project=project,
        workflow=run.name,
        subtitle="A task that was delegated in a session.",
        facts=tuple(facts_of(task)),
        concepts=("gotcha",) if has_failed else ("problem-solution",),
        note="\n".join(note_of(task)),
        at=task.finished_at,
    )
    return (trimmed(one),)


def name_of(specialization: str | None) -> str:
    """A specialization as agents are told it. Whoever employed the companion wrote it, or a model
    did: it may be a sentence, with a secret or markup in it. Here it is a name."""
    name = _NOT_IN_A_NAME.sub("-", one_line(specialization or ""))
    return name.strip("-.")[:_LONGEST_NAME].strip("-.") or _ANYBODY


def facts_of(task: SessionTask) -> Iterator[str]:
    """Whoever had it, by the names of their specializations, and its skills."""
    if task.skills:
        yield f"It was to be done with {', '.join(task.skills)}."
    for one in task.attempts:
        who = name_of(one.specialization)
        if one.why is not None:
            yield f"{who} was lost while doing it." if one.lost else f"It was taken from {who}."


def note_of(task: SessionTask) -> Iterator[str]:
    """What is of this task alone."""
    yield task.description
    if task.error is not None:
        yield f"{task.error.get('code')}: {task.error.get('message')}"
    for one in task.attempts:
        if one.why is not None:
            yield f"{one.companion_id}: {one.why}"
        if one.specialization and one.specialization != name_of(one.specialization):
            yield f"{one.companion_id} is specialised in {one.specialization!r}"
