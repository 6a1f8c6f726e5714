"""The guidelines of conductors, and the analyses of their sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Unpack, cast

from control_plane import JSON, ConductorStore, Outbox, RecordChange
from dcf.advisors.strategist import (
    Analysis,
    Bounds,
    Change,
    StrategistGuidelines,
    StrategistRules,
    Updated,
    analyse,
    follow,
    patterns,
    publish,
    standing,
    update,
)
from dcf.sessions.draft import Draft
from dcf.sessions.finding import check_conductor
from dcf.sessions.guidance.activity import SessionActivity
from dcf.sessions.guidance.answers import Analysed, Guided, Reason, Registered, Said
from dcf.sessions.guidance.errors import OneAgentTwice, UnreadableGuidelines
from dcf.sessions.guidance.keeping import Keeping
from dcf.sessions.guidance.notebook import Look, Notebook, Notebooks
from dcf.sessions.guidance.past import Past
from dcf.sessions.guidance.remembering import Remembering
from dcf.sessions.guidance.showing import Memory, show
from dcf.sessions.sessions import Sessions

_ONLY_NEW: frozenset[Reason] = frozenset({"periodic", "task_completed"})
_TOLD = 300


class Guidance:
    """Guidance of the conductors of ``sessions``. ``past`` knows other sessions; with a ``memory``
    agents see their guidelines in the block ``strategist_guidelines``."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        rules: StrategistRules | None = None,
        past: Past | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.sessions = sessions
        self.rules = rules or StrategistRules.default()
        store = sessions.store
        self.records = ConductorStore(store.backend, cluster=store.cluster, tokens=store.new_id)
        self._notebooks = Notebooks(self.records)
        self._past = Remembering(past) if past is not None else None
        self._memory = memory
        self._keeping = Keeping(Outbox(store.backend)) if store.feeds_outbox else None

    async def register(
        self, conductor_id: str, strategist_id: str, *, initial_json: str | None = None
    ) -> Registered:
        """Let ``strategist_id`` advise the conductor. Guidelines that there are stay; the initial
        ones are for a conductor that has none. Again is no harm. Raises OneAgentTwice,
        InvalidStrategistGuidelines, UnreadableGuidelines, BadName."""
        if conductor_id == strategist_id:
            raise OneAgentTwice(agent=conductor_id)
        now = await self.records.now_ms()
        found: list[Registered] = []

        def plan(notebook: Notebook) -> RecordChange | None:
            guidelines = notebook.complete(self.rules)
            initial, warnings = self._initial(notebook, guidelines, initial_json, now)
            found[:] = [
                Registered(strategist_id, initial.revision, notebook.strategist_id, tuple(warnings))
            ]
            members: dict[str, JSON] = {}
            if initial is not guidelines:
                members["guidelines"] = initial.to_json()
            if notebook.strategist_id != strategist_id:
                members["registration"] = {"strategist_id": strategist_id, "registered_at": now}
            if not members:
                return None
            event = {
                "type": "StrategistRegistered",
                "strategist_id": strategist_id,
                "before": notebook.strategist_id,
                "revision": initial.revision,
            }
            return RecordChange([_told(event)], members)

        await self._notebooks.change(conductor_id, plan)
        shown = await self._show(conductor_id)
        return replace(found[0], warnings=(*found[0].warnings, *shown))

    async def of(self, conductor_id: str) -> Guided:
        """What holds now; advice that has expired does not. Raises UnreadableGuidelines,
        BadName."""
        notebook = await self._notebooks.read(conductor_id)
        guidelines = notebook.complete(self.rules)
        if guidelines.remarks:
            guidelines = standing(guidelines, await self.records.now_ms())
        return Guided(guidelines, guidelines.revision, notebook.strategist_id)

    async def update(self, conductor_id: str, *, by: str, **said: Unpack[Said]) -> Updated:
        """Write what ``by`` says; what came of it, and what there was no room for. Raises
        InvalidStrategistGuidelines with all problems, UnreadableGuidelines, BadName."""
        now = await self.records.now_ms()
        found: list[Updated] = []

        def plan(notebook: Notebook) -> RecordChange | None:
            try:
                before = notebook.complete(self.rules)
            except UnreadableGuidelines:
                if not said.get("clear_guidelines"):
                    raise
                before = notebook.blank(self.rules)
            updated = update(before, now=now, rules=self.rules, **said)
            found[:] = [updated]
            if not updated.fields:
                return None
            event = {
                "type": "GuidelinesUpdated",
                "by": by,
                "fields": list(updated.fields),
                "revision": updated.guidelines.revision,
                "dropped": [one[:_TOLD] for one in updated.dropped] or None,
            }
            return RecordChange([_told(event)], {"guidelines": updated.guidelines.to_json()})

        await self._notebooks.change(conductor_id, plan)
        await self._show(conductor_id)
        return found[0]

    async def activity(self, session_id: str) -> SessionActivity:
        """What happened in the session until now. Raises UnknownSession."""
        session = await self.sessions.get(session_id)
        paged = await self.sessions.pages.of(session)
        # A broadcast is its children.
        tasks = [task for task in (*paged, *session.tasks.values()) if task.kind != "group"]
        tasks.sort(key=lambda task: (task.delegated_at, task.task_id))
        return SessionActivity(session, tuple(tasks), await self.sessions.store.now_ms())

    async def analyse(
        self, session_id: str, conductor_id: str, *, reason: Reason = "periodic", by: str
    ) -> Analysed:
        """Look at the session, and write what is sure enough into the guidelines of its conductor.
        Called again, also by somebody else at the same moment, it says the same and publishes
        nothing twice; whatever a call left undone, the next one does. Raises UnknownSession,
        NoConductor, UnreadableGuidelines, SessionFull."""
        activity = await self._with_past(await self.activity(session_id))
        session = activity.session
        check_conductor(session, conductor_id)
        analysed, look = await self._publish(activity, conductor_id, reason, by)
        warnings = [*activity.warnings, *analysed.warnings]
        is_unmarked = look.is_newer(session.head)
        # Who has seen less than somebody else keeps nothing: what is told later holds.
        is_last = look.closed == session.head.counts.closed
        if self._keeping is not None and is_last and (analysed.is_new or is_unmarked):
            warnings += await self._keeping.keep(analysed.patterns)
        if is_unmarked:
            await self._mark(session_id, look, revision=analysed.revision, reason=reason, by=by)
        if analysed.is_new:
            warnings += await self._show(conductor_id)
        return replace(analysed, warnings=tuple(warnings))

    async def close(self) -> None:
        """End what is still under way for nobody."""
        if self._past is not None:
            await self._past.close()

    async def _publish(
        self, activity: SessionActivity, conductor_id: str, reason: Reason, by: str
    ) -> tuple[Analysed, Look]:
        """What was found, and which look at the session is the last by now."""
        counted = replace(activity.counted, conductor_id=conductor_id)
        session_id, head = counted.session_id, activity.session.head
        closed = head.counts.closed
        # Another session may come to have the id.
        name = f"{session_id}/{head.created_at}"

        @cache
        def analysis_of(bounds: Bounds) -> Analysis:
            return analyse(counted, self.rules, bounds)

        before = (await self._notebooks.read(conductor_id)).complete(self.rules)
        # It counts for a while in a long session, and others wait for the loop.
        await asyncio.to_thread(analysis_of, before.bounds)
        found: list[tuple[Analysed, Look]] = []

        def plan(notebook: Notebook) -> RecordChange | None:
            guidelines = notebook.complete(self.rules)
            analysis = analysis_of(guidelines.bounds)
            kept = patterns(analysis, self.rules)
            last = notebook.analysed.get(name)
            if last is not None and (
                last.closed > closed or (last.closed == closed and reason in _ONLY_NEW)
            ):
                old = Analysed(analysis, guidelines, guidelines.revision, (), kept, is_new=False)
                found[:] = [(old, last)]
                return None
            followed = follow(guidelines, counted, self.rules)
            after, changes = publish(analysis, followed, self.rules, counted.now)
            new = Analysed(analysis, after, after.revision, changes, kept, is_new=True)
            look = Look(closed, counted.now)
            found[:] = [(new, look)]
            members: dict[str, JSON] = {"analysed": notebook.with_analysed(name, look)}
            if after != guidelines:
                members["guidelines"] = after.to_json()
            event = {
                "type": "GuidelinesPublished",
                "session_id": session_id,
                "by": by,
                "reason": reason,
                "tasks": closed,
                "revision": after.revision,
                "changes": [_shortened(one) for one in changes],
            }
            return RecordChange([_told(event)] if changes else [], members)

        await self._notebooks.change(conductor_id, plan)
        return found[0]

    async def _mark(
        self, session_id: str, look: Look, *, revision: int, reason: Reason, by: str
    ) -> None:
        """Write into the session that it was looked at, once, whoever does."""

        def step(draft: Draft) -> None:
            if not look.is_newer(draft.head):
                return
            draft.head = replace(draft.head, analysed=look.closed, analysed_at=look.at)
            draft.tell(
                "SessionAnalysed", by=by, reason=reason, tasks=look.closed, revision=revision
            )

        await self.sessions.change(session_id, step)

    async def _with_past(self, activity: SessionActivity) -> SessionActivity:
        if self._past is None:
            return activity
        types = {task.task_type for task in activity.tasks}
        if not types:
            return activity
        session = activity.session
        history, why = await self._past.of(
            session.session_id, types, before=session.head.created_at
        )
        return replace(activity, history=history, warnings=(why,) if why else ())

    async def _show(self, conductor_id: str) -> list[str]:
        if self._memory is None:
            return []
        notebook = await self._notebooks.read(conductor_id)
        return await show(self._memory, notebook, notebook.complete(self.rules).to_json())

    def _initial(
        self,
        notebook: Notebook,
        guidelines: StrategistGuidelines,
        initial_json: str | None,
        now: int,
    ) -> tuple[StrategistGuidelines, list[str]]:
        """The guidelines to begin with, and what is to be said of it."""
        if initial_json is None or not initial_json.strip():
            return guidelines, []
        given = update(guidelines, now=now, rules=self.rules, guidelines_json=initial_json)
        if notebook.guidelines is not None:
            return guidelines, ["there are guidelines already: the initial ones are not taken"]
        return given.guidelines, [f"no room for {one}" for one in given.dropped]


def _shortened(change: Change) -> dict[str, JSON]:
    told = {name: str(one)[:_TOLD] for name, one in asdict(change).items() if one is not None}
    return cast("dict[str, JSON]", told)


def _told(event: Mapping[str, JSON | list[str] | list[dict[str, JSON]]]) -> dict[str, JSON]:
    """An event without what is None."""
    return cast("dict[str, JSON]", {name: one for name, one in event.items() if one is not None})
