"""The requests of a session: those that are open, and the last ones that are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from control_plane import JSON
from dcf.sessions.conductor.request import Item, Request

CLOSED_KEPT = 20
"""So many closed requests are kept in the record; all of them stand in the history."""
_IDS_KEPT = 1_000


class Book:
    """What the record's member ``requests`` says. ``gone`` are ids of requests that are not kept
    any more; ``made`` counts the companions that were made, ``said_end`` is how much was said of
    the session's end."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        parsed = [Request.parse(one) for one in raw.get("requests", ())]
        self._requests = {one.request_id: one for one in parsed}
        self.gone: tuple[str, ...] = tuple(raw.get("gone", ()))
        self.numbers: int = raw.get("numbers", 0)
        self.made: int = raw.get("made", 0)
        self.said_end: str | None = raw.get("said_end")

    @property
    def is_empty(self) -> bool:
        return not self._requests

    @property
    def open(self) -> list[Request]:
        return [one for one in self._requests.values() if one.is_open]

    @property
    def items(self) -> Iterator[tuple[Request, Item]]:
        """Of all requests that are kept, in the order of their numbers."""
        for request in self._requests.values():
            for item in request.items:
                yield request, item

    @property
    def questions(self) -> list[tuple[Request, Item]]:
        """The items that wait for an answer."""
        return [(one, item) for one, item in self.items if item.status == "asked"]

    def find(self, request_id: str) -> Request | None:
        return self._requests.get(request_id)

    def item(self, number: int) -> tuple[Request, Item] | None:
        return next(((one, item) for one, item in self.items if item.number == number), None)

    def put(self, request: Request) -> Request:
        self._requests[request.request_id] = request
        return request

    def write(self, request: Request, item: Item) -> Item:
        """``item`` in the place of what it was."""
        current = self._requests[request.request_id]
        items = tuple(item if one.number == item.number else one for one in current.items)
        self.put(replace(current, items=items))
        return item

    def to_json(self) -> dict[str, JSON]:
        closed = [one for one in self._requests.values() if not one.is_open]
        leaving = {one.request_id for one in closed[: max(0, len(closed) - CLOSED_KEPT)]}
        kept = [one for one in self._requests.values() if one.request_id not in leaving]
        found: dict[str, Any] = {
            "requests": [one.to_json() for one in kept],
            "numbers": self.numbers,
            "made": self.made,
        }
        gone = [*self.gone, *(one.request_id for one in closed if one.request_id in leaving)]
        if gone:
            found["gone"] = gone[-_IDS_KEPT:]
        if self.said_end is not None:
            found["said_end"] = self.said_end
        return found
