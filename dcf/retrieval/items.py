"""Where logged items are: one interface, whatever keeps them."""

from __future__ import annotations

import hashlib
from typing import Protocol

from dcf.retrieval.errors import InvalidItem
from dcf.retrieval.item import Item, NewItem, Recalled, problems_of

MOST = 1_000
"""Items that are recalled at once."""


class Items(Protocol):
    """Logged items of projects, each named by its folder: what one has, no other sees.

    Items whose time is over are not recalled, and ``sweep`` gives them up. Texts are kept without
    the secrets that were in them. Any number of callers at once.
    """

    async def remember(self, project: str, new: NewItem) -> Item:
        """Keep ``new``: what this returned is recalled from then on. Raises InvalidItem."""

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        """At most ``limit`` (1 to 1,000) items that answer ``query``, the best first; the newest
        first for a query without any word. ``file_path``: only those that are about this file."""

    async def forget(self, project: str, item_id: str) -> None:
        """Give an item up. Raises UnknownItem."""

    async def sweep(self, project: str) -> int:
        """Give up the items whose time is over; how many they were."""

    async def keep_up(self) -> None:
        """Make new items found by their meaning too, until it is cancelled: what ``recall`` else
        begins with."""

    def leave_behind(self) -> None:
        """Another process keeps up: ``recall`` here begins with nothing."""


def archive_of(project: str) -> str:
    """What a project's items are kept under: a name for its folder that is none itself."""
    return f"artifacts-{hashlib.sha256(project.encode()).hexdigest()[:16]}"


def demand_valid(new: NewItem) -> None:
    """Raises InvalidItem with all that keeps ``new`` from being logged."""
    problems = tuple(problems_of(new))
    if problems:
        raise InvalidItem(problems)
