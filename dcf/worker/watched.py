"""What is made of files, made anew when they change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
Mark = tuple[Hashable, ...]

log = logging.getLogger(__name__)


class Watched(Generic[T]):
    """What ``load`` makes of files, made again when one of them is another.

    While a new version cannot be read the one before it is used. ``also`` says what else ``load``
    depends on.
    """

    def __init__(
        self,
        files: Sequence[Path],
        load: Callable[[], T],
        *,
        also: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._files = tuple(files)
        self._load = load
        self._also = also
        self._seen: Mark | None = None
        self._value: T | None = None
        self.fault: str | None = None
        """Why what lies there now is not what is used."""
        self._reading = asyncio.Lock()

    @property
    def last(self) -> T | None:
        """What was read last, without a look at the files; None before the first ``get``."""
        return self._value

    async def get(self) -> T:
        """The value. Raises what ``load`` raises when there was never one to use."""
        mark = (*map(_mark, self._files), self._also())
        if self._value is not None and mark == self._seen:
            return self._value
        async with self._reading:
            if self._value is None or mark != self._seen:
                await self._read(mark)
        if self._value is None:
            raise RuntimeError(f"{self._files[0]} gave nothing")
        return self._value

    async def _read(self, mark: Mark) -> None:
        try:
            made = await asyncio.to_thread(self._load)
            # What says the same stays the same: connections hang on it.
            self._value = self._value if made == self._value else made
            self.fault = None
        except Exception as error:
            if self._value is None:
                raise
            self.fault = f"{self._files[0].name} cannot be used, the one before it holds"
            log.warning("%s changed and cannot be used: %s", self._files[0], error)
        self._seen = mark


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
