"""Why what was asked for is not done yet, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from control_plane import Store, encode_name
from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.request import WELL, Item
from dcf.sessions.ending import why_it_waits
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

APPROVALS = "`dcf approvals` shows it"


async def approvals_of(store: Store, session: Session) -> dict[str, str]:
    """The open tasks that wait for somebody's approval, and for whose."""
    found = {}
    for task in session.open_tasks:
        if task.kind == "group" or task.first_at is None:
            continue
        paths = [encode_name(task.state)] if task.kind == "companion" else []
        paths = paths or await store.paths(task.task_id)
        for state in (await store.states(task.task_id, paths)).values():
            if state.wait == "approval" and state.approval is not None:
                asked = state.approval["request"]
                tool = ":".join(filter(None, (asked["server_id"], asked["tool_name"])))
                found[task.task_id] = (
                    f"it waits till {asked['approver']} approves {tool or 'it'}: {APPROVALS}"
                )
    return found


class Waits:
    """Says why something waits. ``approvals`` are those that ``approvals_of`` found."""

    def __init__(self, session: Session, book: Book, approvals: Mapping[str, str]) -> None:
        self._session = session
        self._book = book
        self._approvals = approvals
        self._numbers = {item.task_id: item.number for _, item in book.items if item.task_id}

    def why(self, item: Item, task: SessionTask | None) -> str | None:
        """None where nothing holds it up."""
        if item.status == "held":
            before = [found[1] for one in item.after if (found := self._book.item(one)) is not None]
            left = [f"{one.number} ({one.status})" for one in before if one.status not in WELL]
            return f"it waits for {', '.join(left)}" if left else "it goes out in a moment"
        if item.status != "open" or task is None or not task.is_open:
            return None
        if task.task_id in self._approvals:
            return self._approvals[task.task_id]
        return self._called(why_it_waits(self._session, task)) if task.status == "queued" else None

    def _called(self, text: str) -> str:
        """With the numbers that the user knows in the place of ids."""
        for task_id, number in self._numbers.items():
            text = re.sub(rf"{re.escape(task_id)}(?![\w-])", str(number), text)
        return text
