"""What was said in sessions, turn by turn, as events that a model can be asked about."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from control_plane import (
    BadName,
    CorruptHistory,
    SessionDocument,
    SessionStore,
    Store,
    UnknownSession,
    read_record_history,
)
from dcf.memory import Origin
from dcf.memory.extraction import CONVERSATION, LEAST, Claim, NewEvent, SourceEvent

_PAGE = 100


@dataclass(slots=True)
class SpokenTurn:
    """A turn of a conversation: what began it, most often the user's words, and what the conductor
    said to that, then and later. ``said`` are roles and texts, ``tasks`` are those that were
    delegated in it: ``(id, type, description)``, and ``ends`` how those ended that did. ``at`` is
    ms since the epoch. It ``is_over`` once nothing in the session is open, and all was told."""

    number: int
    request: str
    at: int
    said: list[tuple[str, str]] = field(default_factory=list)
    tasks: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    failed: bool = False
    is_over: bool = False

    @property
    def is_trivial(self) -> bool:
        """Whether it is a word in passing, such as ``status``, whatever was answered."""
        return not self.tasks and len(self.said[0][1]) < LEAST


@dataclass(slots=True)
class _Listening:
    """The turns of one conversation, as far as it was read."""

    turns: list[SpokenTurn] = field(default_factory=list)
    by_request: dict[str, SpokenTurn] = field(default_factory=dict)
    open: dict[str, SpokenTurn | None] = field(default_factory=dict)
    """Tasks, with the turn in which they were delegated."""

    def hear(self, event: dict[str, object], at: int) -> None:
        task_id = str(event.get("task_id"))
        match event.get("type"):
            case "Said":
                self._said(event, at)
            case "TaskDelegated":
                turn = self.turns[-1] if self.turns else None
                self.open[task_id] = turn
                if turn is not None:
                    turn.tasks[task_id] = f"{event.get('task_type')}: {event.get('description')}"
            case "TaskSettled":
                turn = self.open.pop(task_id, None)
                if turn is not None:
                    turn.ends[task_id] = f"{event.get('status')}: {_end(event)}"
                    turn.failed = turn.failed or event.get("status") == "failed"
            case "SessionCompleted" | "SessionAbandoned":
                self._quiet()

    def _said(self, event: dict[str, object], at: int) -> None:
        role, request = str(event.get("role")), str(event.get("request") or "")
        turn = self.by_request.get(request) if request and role != "user" else None
        if turn is None:
            turn = SpokenTurn(len(self.turns) + 1, request, at)
            self.turns.append(turn)
            self.by_request[request] = turn
        turn.said.append((role, str(event.get("text") or "")))
        if role != "user" and not self.open:
            self._quiet()

    def _quiet(self) -> None:
        for turn in reversed(self.turns):
            if turn.is_over:
                break
            turn.is_over = True


async def spoken_turns(store: Store, session_id: str) -> list[SpokenTurn]:
    """The turns of a session's conversation, numbered from 1. Raises UnknownSession, BadName,
    CorruptHistory."""
    records = _records(store)
    await records.read(session_id, ())
    return await _turns(records, session_id)


class SessionTurns:
    """The turns of the conversations with conductors, as of ``project``."""

    def __init__(self, store: Store, project: str) -> None:
        self._records = _records(store)
        self._project = project

    async def changed(self, since: int = 0) -> AsyncIterator[Sequence[NewEvent]]:
        """The turns that are over and worth a question, session by session, of those in which
        something happened since then (ms by Redis's clock)."""
        after: int | None = None
        while True:
            page = await self._records.page(after=after, limit=_PAGE)
            for record in page.records:
                if record.updated_at >= since:
                    yield await self._events(record)
            after = page.after
            if after is None:
                return

    async def read(self, claim: Claim) -> SourceEvent | None:
        """What was said in the turn of a claim; None where its session is gone."""
        try:
            record = await self._records.read(claim.source_id, ())
            turns = await _turns(self._records, claim.source_id)
        except (UnknownSession, BadName, CorruptHistory):
            # Gone, or nothing that can be believed.
            return None
        number = next((one.number for one in turns if _event(record, one) == claim.event), None)
        return None if number is None else _source(turns[number - 1], claim)

    async def _events(self, record: SessionDocument) -> Sequence[NewEvent]:
        try:
            turns = await _turns(self._records, record.id)
        except CorruptHistory:
            return ()
        return [
            NewEvent(CONVERSATION, record.id, _event(record, one), self._project)
            for one in turns
            if one.is_over and not one.is_trivial
        ]


def _records(store: Store) -> SessionStore:
    return SessionStore(store.backend, cluster=store.cluster)


async def _turns(records: SessionStore, session_id: str) -> list[SpokenTurn]:
    listening = _Listening()
    async for one in read_record_history(records, session_id):
        listening.hear(one.event, one.at)
    return listening.turns


def _event(record: SessionDocument, turn: SpokenTurn) -> str:
    """What the queue calls a turn: another session may come to have the id."""
    return f"{record.created_at}/{turn.number}"


def _end(event: dict[str, object]) -> str:
    error = event.get("error")
    if isinstance(error, dict):
        return f"{error.get('code')}: {error.get('message')}"
    return str(event.get("summary") or "")


def _source(turn: SpokenTurn, claim: Claim) -> SourceEvent:
    return SourceEvent(
        origin=Origin("session", claim.source_id, turn.number),
        kind="message",
        project=claim.project,
        tool="delegation" if turn.tasks else "",
        input="\n".join(f"{name} {what}" for name, what in turn.tasks.items()),
        output="\n".join(f"{name} {end}" for name, end in turn.ends.items()),
        said="\n".join(f"{role}: {text}" for role, text in turn.said),
        failed=turn.failed,
        at=turn.at,
    )
