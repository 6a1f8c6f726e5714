"""Who read and deleted what: JSON Lines in a folder, one file for each day (UTC)."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from dcf.memory import Clock
from dcf.retrieval.batcher import Batcher
from dcf.retrieval.errors import FolderUnusable
from dcf.retrieval.locked_folder import LockedFolder, usable

_log = logging.getLogger(__name__)

Operation: TypeAlias = Literal["read", "delete", "sweep"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
DAYS = 90
"""Kept of the log, where nobody says how many."""
GONE = "[forgotten]"
EVERY_PROJECT = "*"
"""As an access's project: what was done in all of them at once."""
_PAUSE_S = 0.2
"""Reads of so many seconds are written together."""
_MOST_WAITING = 10_000
"""Reads that are not written yet; those beyond are counted, and missing."""
_LAST = ".jsonl"
_BLOCK = 1 << 20
_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a person, an agent or a token by its ``name``, which is never the token itself;
    ``client`` is an address, where there is one."""

    name: str
    client: str = ""


NOBODY = Caller("unknown")


@dataclass(frozen=True, slots=True)
class Access:
    """What ``by`` did ``at`` a time (ms since the epoch, UTC) in the ``project``, or in
    ``EVERY_PROJECT``: the addresses or
    ids of what was returned or deleted, nothing of what it says. Of a ``sweep`` of items whose time
    was over it is known only how many they were (``count``)."""

    at: int
    operation: Operation
    by: str
    client: str
    project: str
    ids: tuple[str, ...]
    count: int


class AuditLog:
    """The log in ``folder``, which any number of processes write. A read is noted without waiting
    and written a moment later, with others; a process that is killed loses those of its last
    moment. A deletion is on the disk when its call returns, with others of that moment. A log that
    cannot be written makes nothing fail: it is told in the program's own log. With ``reads`` False
    deletions alone are noted. The first entry of a day removes those that are older than ``days``;
    None: it removes nothing."""

    def __init__(
        self, folder: Path, clock: Clock, *, reads: bool = True, days: int | None = None
    ) -> None:
        self._folder = folder
        self._files = LockedFolder(folder)
        self._clock = clock
        self._reads = reads
        self._days_kept = days
        self._waiting: list[Access] = []
        self._lost = 0
        self._task: asyncio.Task[None] | None = None
        self._is_closing = asyncio.Event()
        self._durable = Batcher(self._kept)

    @classmethod
    def at_home(cls, home: Path, clock: Clock, env: Mapping[str, str]) -> Self:
        """The one of a home; with ``DCF_AUDIT_READS=0`` in ``env`` deletions alone are noted.
        ``DCF_AUDIT_DAYS`` are kept; where that is no number, all."""
        said = env.get("DCF_AUDIT_DAYS") or f"{DAYS}"
        days = int(said) if said.isdecimal() and said.isascii() else None
        return cls(home / "audit", clock, reads=env.get("DCF_AUDIT_READS") != "0", days=days)

    def note_read(self, by: Caller, project: str, ids: Sequence[str]) -> None:
        """Note what a read returned."""
        if not self._reads:
            return
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        self._waiting.append(self._access("read", by, project, ids, len(ids)))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon())

    async def keep(
        self, operation: Operation, by: Caller, project: str, ids: Sequence[str], count: int
    ) -> None:
        """Note that items were deleted; it is on the disk when this returns. What cannot be written
        is logged, and raises nothing."""
        await self._durable(self._access(operation, by, project, ids, count))

    async def flush(self) -> None:
        """Write what was noted until now."""
        some, self._waiting = self._waiting, []
        lost, self._lost = self._lost, 0
        if lost:
            _log.warning("%d reads are missing in %s: too many waited", lost, self._folder)
        if some:
            await asyncio.to_thread(self._append, some, durable=False)

    async def close(self) -> None:
        """Write what was noted, without waiting for more."""
        self._is_closing.set()
        if self._task is not None:
            await self._task
        await self.flush()

    async def entries(
        self, which: Callable[[Access], bool] = lambda _: True, *, limit: int = 100
    ) -> tuple[Access, ...]:
        """At most ``limit`` entries that ``which`` takes, the newest first. Raises
        FolderUnusable."""
        await self.flush()
        return await asyncio.to_thread(self._found, which, limit)

    async def prune(self, before: int) -> int:
        """Remove the files of days that ended before a time (ms); how many. Raises
        FolderUnusable."""
        return await asyncio.to_thread(self._prune, before)

    async def rename(self, is_named: Callable[[str], bool]) -> int:
        """Put a mark in place of each text that ``is_named`` takes; in how many entries. Raises
        FolderUnusable."""
        return await asyncio.to_thread(self._rename, is_named)

    def _access(
        self, operation: Operation, by: Caller, project: str, ids: Sequence[str], count: int
    ) -> Access:
        return Access(self._clock(), operation, by.name, by.client, project, tuple(ids), count)

    async def _write_soon(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_closing.wait(), _PAUSE_S)
            await self.flush()

    async def _kept(self, some: Sequence[Access]) -> Sequence[None]:
        await asyncio.to_thread(self._append, some, durable=True)
        return [None] * len(some)

    def _append(self, some: Sequence[Access], *, durable: bool) -> None:
        last = max(one.at for one in some)
        try:
            self._files.make()
            with self._files.writing():
                is_new = not (self._folder / _name_of(last)).exists()
                lines = ((_name_of(one.at), _line(one)) for one in some)
                self._files.append(lines, durable=durable)
        except OSError as error:
            _log.error("%d entries are missing in the audit log: %s", len(some), error)
            return
        if is_new and self._days_kept is not None:
            # Not everybody who reads runs a service, which does so every night.
            try:
                self._prune(last - self._days_kept * _DAY_MS)
            except FolderUnusable as error:
                _log.warning("old days of the audit log stay for now: %s", error)

    def _found(self, which: Callable[[Access], bool], limit: int) -> tuple[Access, ...]:
        found: list[Access] = []
        damaged: Counter[Path] = Counter()
        with usable(self._folder):
            lines = ((file, line) for file in reversed(self._days()) for line in _newest(file))
            while len(found) < limit and (one := next(lines, None)):
                file, line = one
                try:
                    entry = _entry(line)
                except (ValueError, TypeError, KeyError):
                    damaged[file] += 1
                    continue
                if which(entry):
                    found.append(entry)
        for file, count in damaged.items():
            # By a process that was killed, by hand, or by a newer DCF.
            _log.warning("%s: %d lines that cannot be read are left out", file, count)
        return tuple(found)

    def _prune(self, before: int) -> int:
        with self._rewriting():
            old = [file for file in self._days() if file.stem < _day_of(before)]
            for file in old:
                file.unlink()
        return len(old)

    def _rename(self, is_named: Callable[[str], bool]) -> int:
        count = 0
        with self._rewriting():
            for file in self._days():
                with file.open("rb") as lines:
                    differ = sum(_renamed(line, is_named) != line for line in lines)
                if differ:
                    with file.open("rb") as lines:
                        kept = (_renamed(line, is_named) for line in lines)
                        self._files.replace(file.name, kept)
                count += differ
        return count

    @contextmanager
    def _rewriting(self) -> Iterator[None]:
        """While nobody else writes, and what was left by one who died over it is gone. Raises
        FolderUnusable."""
        with usable(self._folder):
            if not self._folder.is_dir():
                yield  # there are no files
                return
            with self._files.writing():
                self._files.drop_draft()
                yield

    def _days(self) -> list[Path]:
        return sorted(one for one in self._folder.glob(f"*{_LAST}") if one.is_file())


def _line(access: Access) -> bytes:
    return f"{json.dumps(asdict(access), ensure_ascii=False)}\n".encode()


def _newest(file: Path) -> Iterator[bytes]:
    """The lines of a file that are not empty, the last first: a day may have hundreds of MB."""
    with file.open("rb") as stream:
        at, begun = stream.seek(0, os.SEEK_END), b""
        while at:
            size = min(at, _BLOCK)
            at -= size
            stream.seek(at)
            begun, *lines = (stream.read(size) + begun).split(b"\n")
            yield from filter(None, reversed(lines))
        yield from filter(None, [begun])


def _entry(line: bytes) -> Access:
    """Raises ValueError, TypeError, KeyError."""
    fields = json.loads(line)
    return Access(**{**fields, "ids": tuple(fields["ids"])})


def _renamed(line: bytes, is_named: Callable[[str], bool]) -> bytes:
    text = line.decode(errors="replace")
    if not is_named(text):
        return line
    try:
        fields = json.loads(text)
    except ValueError:
        return b"\n"
    return f"{json.dumps(_marked(fields, is_named), ensure_ascii=False)}\n".encode()


def _marked(value: Any, is_named: Callable[[str], bool]) -> Any:
    """A value of JSON with a mark in place of each text that ``is_named`` takes, however deep: a
    newer DCF may have written the line."""
    match value:
        case str():
            return GONE if is_named(value) else value
        case list():
            return [_marked(one, is_named) for one in value]
        case dict():
            return {name: _marked(one, is_named) for name, one in value.items()}
        case _:
            return value


def _name_of(ms: int) -> str:
    return f"{_day_of(ms)}{_LAST}"


def _day_of(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()
