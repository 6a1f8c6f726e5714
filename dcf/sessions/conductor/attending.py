"""Attending: what came since is seen to, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.handing import close_down, hand_out
from dcf.sessions.conductor.pool import may_scale, scale
from dcf.sessions.conductor.reply import Reply
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.settling import settle_items
from dcf.sessions.conductor.telling import later_reply, session_text
from dcf.sessions.conductor.turning import session_rows
from dcf.sessions.conductor.work import Work
from dcf.sessions.finding import check_conductor
from dcf.sessions.session import Session


def is_due(session: Session, book: Book, now: int, rules: ConductorRules) -> bool:
    """Whether there is anything to attend to; nothing is written otherwise."""
    takes = session.state in ("active", "paused")
    for _, item in book.items:
        task = session.tasks.get(item.task_id or "")
        if item.status == "open" and (task is None or not task.is_open):
            return True
        if item.status in ("held", "asked") and not takes:
            return True
    if any(request.items and all(item.is_over for item in request.items) for request in book.open):
        return True
    if session.is_over:
        return not book.is_empty and book.said_end != session.state
    return may_scale(session, now, rules)


def attend_to(work: Work) -> list[Reply]:
    """See to results and failures, hand out what they let go, and fit the number of companions;
    what is told of each request. Raises NoConductor."""
    check_conductor(work.draft, work.by)
    settle_items(work)
    if work.takes:
        hand_out(work)
    else:
        close_down(work)
    scale(work)
    replies = []
    for request in work.book.open:
        news = sorted(work.news.get(request.request_id, []), key=lambda item: item.number)
        if not news and not all(item.is_over for item in request.items):
            continue
        reply = later_reply(work, request, news)
        if reply.is_last:
            work.book.put(replace(request, answer=reply.to_json()))
        replies.append(reply)
    if work.draft.head.state in ("completed", "abandoned") and not work.book.is_empty:
        replies += _end(work)
    for reply in replies:
        work.say("conductor", reply.text, reply.request)
    work.save()
    return list(_together(replies))


def _together(replies: list[Reply]) -> Iterator[Reply]:
    """What was cancelled all at once is told once."""
    gone = [
        reply
        for reply in replies
        if reply.is_last and reply.rows and all(row.status == "cancelled" for row in reply.rows)
    ]
    if len(gone) < 2:
        yield from replies
        return
    yield from (reply for reply in replies if reply not in gone)
    rows = tuple(row for reply in gone for row in reply.rows)
    numbers = ", ".join(str(row.number) for row in rows)
    yield Reply("", f"Cancelled: tasks {numbers}.", rows=rows, is_last=True)


def _end(work: Work) -> list[Reply]:
    """That the session is over, once."""
    state = work.draft.head.state
    if work.book.said_end == state:
        return []
    work.book.said_end = state
    session = work.draft.session(0)
    rows = session_rows(work.book, session)
    return [Reply("", session_text(session, rows), rows=rows, is_last=True)]
