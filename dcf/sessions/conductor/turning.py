"""A turn: what a message changes in a session, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.sessions.conductor.answering import HELP, again, cancel, drop
from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.errors import BadRequest
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.handing import hand_out
from dcf.sessions.conductor.hearing import Heard
from dcf.sessions.conductor.preparing import Prepared
from dcf.sessions.conductor.reply import Reply, Row
from dcf.sessions.conductor.request import Item, Request, stem_of
from dcf.sessions.conductor.telling import first_reply, row_of_item, row_of_task, session_text
from dcf.sessions.conductor.waiting import Waits
from dcf.sessions.conductor.work import Work
from dcf.sessions.errors import TooMany
from dcf.sessions.finding import check_conductor, check_taking
from dcf.sessions.session import Session

_ROWS = 100


@dataclass(frozen=True, slots=True)
class Again:
    """An item that goes out again, as it was seen and as it shall be."""

    before: Item
    item: Item
    fired: tuple[Fired, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What was heard under ``request_id``, and what was found out about it beforehand: the tasks,
    or the items that an answer is about (``again``, ``numbers``), or why it is about none."""

    request_id: str
    text: str
    heard: Heard
    prepared: Sequence[Prepared] = ()
    again: Sequence[Again] = ()
    numbers: Sequence[int] = ()
    problem: str = ""
    documents: Mapping[str, Mapping[str, Any] | str] = field(default_factory=dict)
    waits: Mapping[str, str] = field(default_factory=dict)


def take_turn(work: Work, turn: Turn) -> Reply:
    """Do what was said, and answer. The same turn again has the same answer. Raises NoConductor,
    NotOpen, TooMany, BadRequest."""
    draft = work.draft
    check_conductor(draft, work.by)
    known = work.book.find(turn.request_id)
    if known is not None and known.reply is not None:
        return Reply.parse(known.reply)
    if turn.prepared or turn.again:
        check_taking(draft, "delegating")
    _check_room(work)
    work.say("user", turn.text, turn.request_id)
    for fired in turn.heard.fired:
        work.fire(fired)
    stem = stem_of(draft.session_id, turn.request_id)
    request = work.book.put(Request(turn.request_id, draft.now, stem))
    said = _command(work, turn) if turn.heard.do != "task" else _add(work, request, turn.prepared)
    if work.takes:
        hand_out(work)
    request = work.book.find(turn.request_id) or request
    reply = first_reply(work, request) if request.items else _answer(work, turn, request, said)
    answer = None if request.items else reply.to_json()
    work.book.put(replace(request, reply=reply.to_json(), answer=answer))
    work.say("conductor", reply.text, turn.request_id)
    work.save()
    return reply


def session_rows(
    book: Book, session: Session, approvals: Mapping[str, str] | None = None
) -> tuple[Row, ...]:
    """The last hundred of what was asked for and delegated, as far as it is at hand."""
    tasks, waits = session.tasks, Waits(session, book, approvals or {})
    items = [(item, tasks.get(item.task_id or "")) for _, item in book.items]
    rows = [row_of_item(item, task, waits.why(item, task)) for item, task in items]
    ours = {row.task_id for row in rows}
    rows += [
        row_of_task(task)
        for task in tasks.values()
        # Earlier tries of an item are told with it.
        if task.kind != "group" and task.task_id not in ours and task.request is None
    ]
    return tuple(rows[-_ROWS:])


def _add(work: Work, request: Request, prepared: Sequence[Prepared]) -> str:
    """Add what was asked for, with numbers."""
    first = work.book.numbers + 1
    work.book.numbers += len(prepared)
    # Numbers are those of the session, but where the user numbered the lines of this message.
    labels = {one.label: first + at for at, one in enumerate(prepared) if one.label}
    items = [_numbered(work, one, first + at, labels) for at, one in enumerate(prepared)]
    _check_order([item for item, _ in items])
    work.book.put(replace(request, items=tuple(item for item, _ in items)))
    for (item, missing), one in zip(items, prepared, strict=True):
        for fired in one.fired:
            work.fire(fired, item)
        if item.question is not None:
            work.ask(request, item, item.question.topic, item.question.text)
        elif missing:
            names = ", ".join(map(str, missing))
            text = f"There is no task {names} to follow: `yes` to begin anyway, or `drop it`"
            work.ask(request, item, "after", text)
    revision = work.hints.revision
    if revision and not any(fired.revision for one in prepared for fired in one.fired):
        work.fire(Fired("guidelines", "nothing in them is about this", "none", revision=revision))
    return ""


def _numbered(
    work: Work, prepared: Prepared, number: int, labels: Mapping[str, int]
) -> tuple[Item, list[int]]:
    """The item with its number and those it follows; which of them there are not."""
    item = prepared.item
    wanted = {one: labels.get(str(one), one) for one in item.after}
    known = {*range(1 + work.book.numbers)} - {0}
    missing = [one for one, its in wanted.items() if its not in known or its == number]
    after = [its for one, its in wanted.items() if one not in missing]
    if prepared.follows and not item.after:
        after += [number - 1] if number > 1 else []
    return replace(item, number=number, after=tuple(dict.fromkeys(after))), missing


def _check_order(items: Sequence[Item]) -> None:
    """Raises BadRequest when they would wait for each other."""
    left = {item.number: set(item.after) for item in items}
    while left:
        free = [number for number, after in left.items() if not after & set(left)]
        if not free:
            names = ", ".join(map(str, left))
            raise BadRequest(
                what="The order of the tasks", value=f"a circle ({names})",
                wanted="one that begins somewhere", how="say which of them comes first",
            )  # fmt: skip
        for number in free:
            del left[number]


def _command(work: Work, turn: Turn) -> str:
    """Do what is no task; what is said of it."""
    heard = turn.heard
    if turn.problem:
        return turn.problem
    match heard.do:
        case "talk":
            return heard.say if work.takes else session_text(work.draft.session(0), ())
        case "help":
            return HELP
        case "cancel":
            return cancel(work, heard.said.get("task", "all"))
        case "drop":
            said = [drop(work, one) or f"{one} is cancelled." for one in turn.numbers]
            return "\n".join(said)
        case "retry" | "accept":
            said = []
            for one in turn.again:
                for fired in one.fired:
                    work.fire(fired, one.item)
                said.append(again(work, one.before.number, one.before, one.item))
            return "\n".join(filter(None, said))
    session = work.draft.session(0)
    return session_text(session, session_rows(work.book, session, work.waits))


def _answer(work: Work, turn: Turn, request: Request, said: str) -> Reply:
    """What is answered to a command: what it did, and which tasks that concerns."""
    if work.news:
        items = tuple(item for news in work.news.values() for item in news)
        found = first_reply(work, replace(request, items=items), said)
        text = said if turn.heard.do in ("cancel", "drop") and said else found.text
        return replace(found, text=text, is_last=True)
    rows: tuple[Row, ...] = ()
    if said.startswith("The session is"):
        rows = session_rows(work.book, work.draft.session(0), work.waits)
    return Reply(request.request_id, said, rows=rows, fired=tuple(work.fired), is_last=True)


def _check_room(work: Work) -> None:
    there, most = len(work.book.open), work.rules.limits.requests
    if there >= most:
        raise TooMany(
            session_id=work.draft.session_id, count=there, what="open requests", limit=most,
            how="answer what is asked, or `cancel all`",
        )  # fmt: skip
