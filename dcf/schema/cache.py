"""Schemas that were made already, by their text, as long as they do not fill the memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class TextCache(Generic[T]):
    """What ``make`` makes of a text, kept for the texts that were asked for last: at most
    ``entries``, and at most ``characters`` of them together. The newest is kept whatever its size:
    it is the one that is asked for again."""

    def __init__(self, make: Callable[[str], T], *, entries: int, characters: int) -> None:
        self._make = make
        self._entries = entries
        self._characters = characters
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def __call__(self, text: str) -> T:
        """As ``make(text)``, and raises what that raises; nothing is kept then."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        # Not under the lock: another thread would wait for a schema that is none of its business.
        made = self._make(text)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = made
                self._size += len(text)
            while len(self._kept) > 1 and self._is_full():
                oldest, _ = self._kept.popitem(last=False)
                self._size -= len(oldest)
        return made

    def __len__(self) -> int:
        return len(self._kept)

    def _is_full(self) -> bool:
        return len(self._kept) > self._entries or self._size > self._characters
