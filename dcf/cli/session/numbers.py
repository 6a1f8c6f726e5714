"""What a conductor by rule calls the tasks of a session."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.cli.session.opening import Desk
from dcf.cli.trouble import NotSo
from dcf.sessions import Session
from dcf.sessions.conductor import Book


def numbers_of(session: Session) -> dict[str, int]:
    """The number of each task that was given away for something with a number; of several tries
    it is the last."""
    items = (item for _, item in Book(session.requests).items)
    return {item.task_id: item.number for item in items if item.task_id is not None}


async def task_ids(desk: Desk, session_id: str, said: Sequence[str]) -> list[str]:
    """The ids of the tasks that are said by id or by number. What is neither stays as it is: it may
    be a task that was closed long ago. Raises NoSuch, NotSo for a number that is no task yet."""
    session = await desk.get(session_id)
    return [task_id_of(session, one) for one in said]


def task_id_of(session: Session, said: str) -> str:
    """The same for one."""
    if said in session.tasks or not (said.isascii() and said.isdecimal()):
        return said
    found = Book(session.requests).item(int(said))
    if found is None:
        return said
    item = found[1]
    if item.task_id is not None:
        return item.task_id
    message = f"{said} ({item.text!r}) is no task yet: it is {item.status}"
    hint = f'`dcf session say {session.session_id} status` tells more, "cancel {said}" ends it'
    raise NotSo("not_delegated", message, hint)
