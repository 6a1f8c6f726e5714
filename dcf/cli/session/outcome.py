"""What became of requests to a conductor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcf.mcp import Conducting
from dcf.sessions import Session
from dcf.sessions.conductor import Book, Reply


@dataclass(frozen=True, slots=True)
class Outcome:
    """``failed`` are tasks, by number where they have one; ``questions`` what the user is asked."""

    failed: tuple[str, ...]
    questions: tuple[str, ...]


def requests_of(session: Session, reply: Reply) -> tuple[str, ...]:
    """The requests that ``reply`` is about: its own, and those that are open of which it speaks."""
    book = Book(session.requests)
    found = {reply.request: None}
    for row in reply.rows:
        item = None if row.number is None else book.item(row.number)
        if item is not None and item[0].is_open:
            found[item[0].request_id] = None
    return tuple(found)


async def outcome_of(session: Session, conductor: Conducting, requests: Iterable[str]) -> Outcome:
    """As they are now."""
    book, failed, questions = Book(session.requests), [], []
    for request_id in requests:
        request = book.find(request_id)
        if request is None:
            answer = await conductor.answer(session.session_id, request_id)
            rows = answer.rows if answer is not None else ()
            failed += [row.task_id for row in rows if row.status == "failed" and row.task_id]
            continue
        failed += [str(item.number) for item in request.items if item.status == "failed"]
        for item in request.items:
            if item.status == "asked" and item.question is not None:
                questions.append(f"{item.number}: {item.question.text}")
    return Outcome(tuple(failed), tuple(questions))
