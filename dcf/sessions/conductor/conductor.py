"""The conductor by rule."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any

from control_plane import SessionFull, read_record_history
from dcf.advisors.strategist import Change
from dcf.sessions.conductor.answering import changed, meant
from dcf.sessions.conductor.attending import attend_to, is_due
from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.discovering import Discover
from dcf.sessions.conductor.errors import BadRequest
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.hearing import Heard, hear
from dcf.sessions.conductor.hinting import Hints
from dcf.sessions.conductor.line import read_line
from dcf.sessions.conductor.preparing import Preparer, Workflows
from dcf.sessions.conductor.reply import Reply
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.telling import session_text
from dcf.sessions.conductor.trace import Trace, read_trace
from dcf.sessions.conductor.turning import Again, Turn, session_rows, take_turn
from dcf.sessions.conductor.waiting import approvals_of
from dcf.sessions.conductor.work import Work
from dcf.sessions.draft import Draft
from dcf.sessions.guidance import Guidance, Reason
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import SessionTask

log = logging.getLogger(__name__)

_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Conductor:
    """Conducts sessions as ``conductor_id``. Without ``discover`` tasks get the skills that they
    name; without ``workflows`` none can be named."""

    def __init__(
        self,
        sessions: Sessions,
        guidance: Guidance,
        conductor_id: str,
        *,
        rules: ConductorRules | None = None,
        discover: Discover | None = None,
        workflows: Workflows | None = None,
    ) -> None:
        self.sessions = sessions
        self.guidance = guidance
        self.conductor_id = conductor_id
        self.rules = rules or ConductorRules.default()
        self._discover = discover
        self._workflows = workflows

    async def turn(self, session_id: str, text: str, *, request_id: str | None = None) -> Reply:
        """Say something to the conductor; it answers at once, companions work on. The same
        ``request_id`` again has the same answer. Raises UnknownSession, SessionProblem."""
        given = _checked(request_id) if request_id else f"r-{self.sessions.store.new_id()[-8:]}"
        session = await self.sessions.get(session_id)
        book = Book(session.requests)
        known = book.find(given)
        if known is not None and known.reply is not None:
            return Reply.parse(known.reply)
        if given in book.gone:
            return await self._recalled(session_id, given)
        heard = hear(text, self.rules, has_question=bool(book.questions))
        if _begins_workflow(heard, book):
            heard = hear(text, self.rules, has_question=False)
        hints = Hints(await self.guidance.of(self.conductor_id))
        turn = await self._turn(given, text, heard, session, hints)
        reply, _ = await self.sessions.change(
            session_id,
            lambda draft: take_turn(
                self._work(draft, hints, turn.documents, waits=turn.waits), turn
            ),
        )
        if heard.do in ("cancel", "drop"):
            await self.sessions.tick(session_id)
        return reply

    async def attend(self, session_id: str) -> list[Reply]:
        """See to what came since: results, failures, how many companions there are, analysis. Safe
        to repeat, from any process; what one of several is told, the others are not. Raises
        UnknownSession, NoConductor."""
        session = await self.sessions.get(session_id)
        if session.open_tasks or session.state == "completing":
            session = await self.sessions.tick(session_id)
        book = Book(session.requests)
        replies: list[Reply] = []
        if is_due(session, book, await self.sessions.store.now_ms(), self.rules):
            hints = Hints(await self.guidance.of(self.conductor_id))
            documents = await self._documents(_workflows_due(session, book), hints)
            paged = await self._paged(session, book)
            traces = await self._traces(session, book, paged)
            replies, session = await self.sessions.change(
                session_id,
                lambda draft: attend_to(self._work(draft, hints, documents, paged, traces)),
            )
        replies += await self._analysed(session)
        return replies

    async def answer(self, session_id: str, request_id: str) -> Reply | None:
        """The last word on a request, by whomever it was said; None while it is open. Raises
        UnknownSession, BadRequest."""
        book = Book((await self.sessions.get(session_id)).requests)
        found = book.find(request_id)
        if found is not None:
            return None if found.answer is None else Reply.parse(found.answer)
        if request_id in book.gone:
            return await self._recalled(session_id, request_id)
        value, wanted = repr(request_id), "one that was said in this session"
        raise BadRequest(what="The request", value=value, wanted=wanted, how="say the id of a turn")

    async def finalize(self, session_id: str, *, cancel: bool = False) -> Reply:
        """Begin to end the session, at once with ``cancel``; what came of it. Safe to repeat.
        Raises UnknownSession."""
        await self.sessions.end(session_id, by=self.conductor_id, cancel=cancel)
        replies = await self.attend(session_id)
        session = await self.sessions.get(session_id)
        rows = session_rows(Book(session.requests), session)
        said = [reply.text for reply in replies if reply.request]
        text = "\n\n".join([*said, session_text(session, rows)])
        fired = tuple(one for reply in replies for one in reply.fired)
        return Reply("", text, rows=rows, fired=fired, is_last=session.is_over)

    # -- what a change must know beforehand --------------------------------------------------------

    async def _turn(
        self, request_id: str, text: str, heard: Heard, session: Session, hints: Hints
    ) -> Turn:
        """What was heard, with what had to be looked up for it."""
        preparer, book = self._preparer(hints, session.head.objective), Book(session.requests)
        if heard.do == "task":
            prepared = [
                await preparer.prepare(wish, position)
                for position, wish in enumerate(heard.wishes, 1)
            ]
            names = {one.item.workflow for one in prepared}
            documents = await self._documents(names, hints)
            return Turn(request_id, text, heard, prepared=prepared, documents=documents)
        if heard.do == "status":
            waits = await approvals_of(self.sessions.store, session)
            return Turn(request_id, text, heard, waits=waits)
        if heard.do not in ("retry", "accept", "drop"):
            return Turn(request_id, text, heard)
        about = meant(book, heard.do, heard.said)
        if about.problem or heard.do == "drop":
            return Turn(request_id, text, heard, numbers=about.numbers, problem=about.problem)
        again = []
        for found in filter(None, map(book.item, about.numbers)):
            fired: list[Fired] = []
            item = changed(found[1], heard.do, heard.said)
            if item.question is None:
                item, fired = await preparer.complete(item)
            again.append(Again(found[1], item, tuple(fired)))
        documents = await self._documents({one.item.workflow for one in again}, hints)
        return Turn(request_id, text, heard, again=again, documents=documents)

    async def _documents(
        self, names: Iterable[str | None], hints: Hints
    ) -> dict[str, Mapping[str, Any] | str]:
        preparer = self._preparer(hints)
        return {name: await preparer.document(name) for name in set(names) if name is not None}

    async def _paged(self, session: Session, book: Book) -> dict[str, SessionTask]:
        """The tasks of open items that were moved to pages before anybody attended to them."""
        missing = {item.task_id for _, item in book.items if item.status == "open"}
        missing -= set(session.tasks)
        if not missing:
            return {}
        closed = await self.sessions.closed(session.session_id)
        return {task.task_id: task for task in closed if task.task_id in missing}

    async def _traces(
        self, session: Session, book: Book, paged: Mapping[str, SessionTask]
    ) -> dict[str, Trace]:
        """What the tasks of open items left that are over."""
        there = {**paged, **session.tasks}
        ended = [
            there[item.task_id]
            for _, item in book.items
            if item.status == "open" and item.task_id in there and not there[item.task_id].is_open
        ]
        return {task.task_id: await read_trace(self.sessions, task) for task in ended}

    async def _recalled(self, session_id: str, request_id: str) -> Reply:
        """The last word on a request that the record has no more, from the history."""
        text = ""
        async for found in read_record_history(self.sessions.records, session_id):
            event = found.event
            if event.get("type") == "Said" and event.get("request") == request_id:
                text = str(event.get("text", ""))
        return Reply(request_id, text, is_last=True)

    async def _analysed(self, session: Session) -> list[Reply]:
        """Let the Strategist look, where it is time; what changed by that."""
        reason = _why_analyse(session, self.rules)
        if reason is None:
            return []
        try:
            found = await self.guidance.analyse(
                session.session_id, self.conductor_id, reason=reason[0], by=self.conductor_id
            )
        except SessionFull as full:
            log.warning("%s is not analysed: %s", session.session_id, full)
            return []
        if not found.is_new:
            return []
        did = "; ".join(_change(one) for one in found.changes) or "nothing changed"
        fired = Fired("analysis", reason[1], did, revision=found.revision)
        try:
            await self.sessions.say(session.session_id, "RuleFired", **fired.to_json())
        except SessionFull as full:
            # The guidelines have it; that a rule fired is only told.
            log.warning("%s is not told in its history: %s", did, full)
        if not found.changes:
            return []
        return [Reply("", f"The guidelines changed: {did}.", fired=(fired,), is_last=True)]

    def _preparer(self, hints: Hints, objective: str = "") -> Preparer:
        return Preparer(
            self.sessions,
            self.conductor_id,
            self.rules,
            hints,
            self._discover,
            self._workflows,
            objective,
        )

    def _work(
        self,
        draft: Draft,
        hints: Hints,
        documents: Mapping[str, Mapping[str, Any] | str],
        paged: Mapping[str, SessionTask] | None = None,
        traces: Mapping[str, Trace] | None = None,
        waits: Mapping[str, str] | None = None,
    ) -> Work:
        by, rules = self.conductor_id, self.rules
        known = (paged or {}, traces or {}, waits or {})
        return Work(draft, by, rules, hints, documents, *known)


def _checked(request_id: str) -> str:
    """Raises BadRequest."""
    if not _REQUEST_ID.fullmatch(request_id):
        wanted = "1 to 64 letters, digits and _ -, a letter or digit first"
        value = repr(request_id[:80])
        raise BadRequest(what="The request id", value=value, wanted=wanted, how="leave it away")
    return request_id


def _begins_workflow(heard: Heard, book: Book) -> bool:
    """Whether a workflow is named and nobody asked about one: it is no answer, but a task."""
    if not read_line(heard.said.get("more", "")).workflow:
        return False
    return not any(item.workflow for _, item in book.questions)


def _workflows_due(session: Session, book: Book) -> set[str | None]:
    """The workflows that may have to be delegated again."""
    return {
        item.workflow
        for _, item in book.items
        if item.status == "held" or (item.status == "open" and item.task_id not in _open(session))
    }


def _open(session: Session) -> set[str]:
    return {task.task_id for task in session.open_tasks}


def _why_analyse(session: Session, rules: ConductorRules) -> tuple[Reason, str] | None:
    """Why it is time for an analysis; None when it is not."""
    head = session.head
    new = head.counts.closed - head.analysed
    if new <= 0:
        return None
    if session.is_over:
        return "milestone", f"the session is over, {new} tasks ended since the last analysis"
    if new >= rules.analysis.every:
        return "periodic", f"{new} tasks ended since the last analysis"
    row = rules.analysis.failures_in_a_row
    ended = [task for task in session.tasks.values() if not task.is_open and task.kind != "group"]
    last = sorted(ended, key=lambda task: task.finished_at or 0)[-row:]
    if new >= row == len(last) and all(task.status == "failed" for task in last):
        return "task_completed", f"{row} tasks failed one after the other"
    return None


def _change(change: Change) -> str:
    return f"{change.what}: {change.text}"
