"""A project's logged items in a folder: JSON Lines, one file for each day (UTC). A line is an item,
or says that one is gone."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from dcf.retrieval.backend import Kept, kept_of
from dcf.retrieval.item import Item
from dcf.retrieval.locked_folder import LockedFolder, number_in, raise_number, sync_names

Made = TypeVar("Made")

log = logging.getLogger(__name__)

_FIRST, _LAST = "items-", ".jsonl"
_DAMAGED = "damaged.txt"
"""The file that compaction moves lines to that cannot be read: somebody may mend them."""
NAME = "project"
"""The file that says which folder's items these are."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The item of an earlier line is not to be found any more, since ``timestamp`` (ms); ``over``:
    because its time was over, not because somebody had it forgotten."""

    item_id: str
    timestamp: int
    over: bool = False


def line_of(record: Item | Gone) -> bytes:
    """The record as one line of JSON, with its end."""
    if isinstance(record, Gone):
        fields = {"gone": record.item_id, "timestamp": record.timestamp}
        fields |= {"over": True} if record.over else {}
    else:
        fields = {
            "id": record.id,
            "text": record.text,
            "tags": list(record.tags),
            "source": record.source,
            "filePath": record.file_path,
            "timestamp": record.timestamp,
        }
    return f"{json.dumps(fields, ensure_ascii=False)}\n".encode()


def record_in(line: bytes) -> Item | Gone:
    """The record in a line. Raises ValueError with what is wrong."""
    try:
        fields = json.loads(line)
    except RecursionError as error:
        raise ValueError("its JSON is too deep") from error
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")
    timestamp = _typed(fields, "timestamp", int)
    if "gone" in fields:
        return Gone(_typed(fields, "gone", str), timestamp, fields.get("over") is True)
    tags = _typed(fields, "tags", list)
    if not all(isinstance(tag, str) for tag in tags):
        raise ValueError("its tags are not all text")
    return Item(
        _typed(fields, "id", str),
        _typed(fields, "text", str),
        tuple(tags),
        _text_or_none(fields, "source"),
        _text_or_none(fields, "filePath"),
        timestamp,
    )


def _typed(fields: dict[str, object], name: str, kind: type[Made]) -> Made:
    value = fields.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"its {name} is no {kind.__name__}")
    return value


def _text_or_none(fields: dict[str, object], name: str) -> str | None:
    return None if fields.get(name) is None else _typed(fields, name, str)


@dataclass(slots=True)
class _Day:
    """What was read of a day's file. Lines that cannot be read are ``damaged``; of the others
    those that are no item of ``live`` and name none of ``forgotten`` are dead."""

    offset: int = 0
    lines: int = 0
    damaged: int = 0
    live: dict[str, Item] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)

    @property
    def dead(self) -> int:
        return self.lines - self.damaged - len(self.live) - len(self.forgotten)

    @property
    def half_dead(self) -> bool:
        return 2 * self.dead >= self.lines


class ItemFolder:
    """The files of one project, which the file ``project`` names. An item's line is in the file of
    the day on which it was logged, and so is the line that says that it is gone: each file can be
    rewritten by itself.

    Any number of processes use the folder, under the lock of its file ``lock``, and each reads what
    the others appended since. That file has a number, which a rewritten file changes: then all is
    read again. One thread at a time. Methods raise OSError.
    """

    def __init__(
        self,
        folder: Path,
        project: str | None = None,
        told: set[tuple[Path, bytes]] | None = None,
    ) -> None:
        """``project`` is needed where items are kept. ``told`` has the damaged lines that were
        told already, and gets those that are told here."""
        self._folder = folder
        self._files = LockedFolder(folder)
        self._project = project
        self._days: dict[str, _Day] = {}
        self._rewritten = 0
        self._changed: dict[str, Item | None] = {}
        self._is_anew = True
        self._told: set[tuple[Path, bytes]] = set() if told is None else told

    def read(self) -> dict[str, Item]:
        """All items by their ids, as they are now."""
        if not self._folder.is_dir():
            self._days = {}
            return {}
        with self._files.reading() as lock:
            self._catch_up(lock)
        return {key: item for day in self._days.values() for key, item in day.live.items()}

    def changes(self) -> tuple[dict[str, Item | None], bool]:
        """Items by their ids that are new since the last time this was asked, None for those that
        are gone; and whether these are all there are, so that what is not among them is gone too.
        """
        if not self._folder.is_dir():
            self._days = {}
            return {}, True
        with self._files.reading() as lock:
            self._catch_up(lock)
        told = self._changed, self._is_anew
        self._changed, self._is_anew = {}, False
        return told

    def forgotten(self) -> list[str]:
        """Ids of items that somebody had forgotten."""
        self.read()
        return [item_id for day in self._days.values() for item_id in day.forgotten]

    def append(self, items: Sequence[Item]) -> None:
        """Keep items that are not there yet, all or none."""
        self._make()
        with self._files.writing():
            self._write((_day_of(item), item) for item in items)

    def keep(self, items: Sequence[Item]) -> list[Kept]:
        """Keep those items whose ids are not known yet; what came of each."""
        self._make()
        with self._files.writing() as lock:
            self._catch_up(lock)
            kept = [self._kept(item) for item in items]
            new = (item for item, what in zip(items, kept, strict=True) if what == "copied")
            self._write((_day_of(item), item) for item in new)
        return kept

    def _kept(self, item: Item) -> Kept:
        for day in self._days.values():
            if item.id in day.live or item.id in day.forgotten:
                return kept_of(item, day.live.get(item.id))
        return "copied"

    def give_up(self, which: Callable[[Item], bool], now: int, *, over: bool = False) -> int:
        """Take items out at ``now`` (ms), maybe because their time is ``over``; how many they
        were."""
        if not self._folder.is_dir():
            return 0
        # Under the lock from the reading on: of two who give up the same, one does.
        with self._files.writing() as lock:
            self._catch_up(lock)
            gone = [
                (name, Gone(key, now, over))
                for name, day in self._days.items()
                for key, item in day.live.items()
                if which(item)
            ]
            self._write(gone)
        return len(gone)

    def compact(self, every: bool = False) -> None:
        """Rewrite the files of whose lines half are dead without those; ``every`` one that has a
        dead line, if that is said, and then damaged lines are moved to another file, too."""
        if not self._folder.is_dir():
            return
        with self._files.writing() as lock:
            self._catch_up(lock)
            for name, day in [*self._days.items()]:
                if every and day.damaged:
                    damaged = [one for one in _lines_in(self._folder / name) if _is_damaged(one)]
                    # First: who dies behind this moves them once more.
                    self._files.append((_DAMAGED, one) for one in damaged)
                    self._rewrite(lock, name, _is_damaged)
                    where = self._folder / _DAMAGED
                    log.warning("%d damaged lines were moved to %s", len(damaged), where)
                elif day.half_dead or (every and day.dead):
                    self._rewrite(lock, name)

    def purge(self, is_gone: Callable[[str], bool], now: int) -> None:
        """Rewrite the files without the lines that ``is_gone`` takes, whatever they are, so that no
        byte of them is left; of items it stays known that they were forgotten ``now`` (ms)."""
        if not self._folder.is_dir():
            return
        with self._files.writing() as lock:
            self._catch_up(lock)
            self._files.drop_draft()
            name_file = self._folder / NAME
            if name_file.exists() and is_gone(name_file.read_text("utf-8", "replace")):
                name_file.unlink()

            def is_named(line: bytes) -> bool:
                return is_gone(line.decode(errors="replace"))

            for name in sorted(self._days):
                lines = (self._folder / name).read_bytes().splitlines()
                if any(map(is_named, lines)):
                    live = self._days[name].live.values()
                    named = [one for one in live if is_gone(line_of(one).decode())]
                    gone = [line_of(Gone(one.id, now)) for one in named if not is_gone(one.id)]
                    self._rewrite(lock, name, is_named, b"".join(gone))
            damaged = self._folder / _DAMAGED
            if damaged.exists():
                lines = [*_lines_in(damaged)]
                self._files.replace(_DAMAGED, [one for one in lines if not is_named(one)])

    def _make(self) -> None:
        if (self._folder / NAME).exists():
            return
        self._files.make()
        with self._files.writing():
            self._files.replace(NAME, [f"{self._project}\n".encode()])

    def _catch_up(self, lock: int) -> None:
        """Read what is new; all, where a file is not the one that was read."""
        sizes = {
            one.name: one.stat().st_size
            for one in os.scandir(self._folder)
            if one.name.startswith(_FIRST) and one.name.endswith(_LAST)
            # Neither a link nor a pipe.
            if one.is_file(follow_symlinks=False)
        }
        rewritten = number_in(lock)
        if rewritten != self._rewritten or any(
            sizes.get(name, -1) < day.offset for name, day in self._days.items()
        ):
            self._days, self._rewritten = {}, rewritten
            self._changed, self._is_anew = {}, True
        for name in sorted(sizes):
            day = self._days.setdefault(name, _Day())
            if day.offset < sizes[name]:
                self._read_on(name, day)

    def _read_on(self, name: str, day: _Day) -> None:
        with (self._folder / name).open("rb") as stream:
            stream.seek(day.offset)
            for line in stream:
                day.offset += len(line)
                # Behind a torn line, which an append ended.
                if line == b"\n":
                    continue
                day.lines += 1
                try:
                    record = record_in(line)
                except ValueError as error:
                    day.damaged += 1
                    self._tell(name, day.lines, line, error)
                    continue
                if isinstance(record, Gone):
                    day.live.pop(record.item_id, None)
                    self._changed[record.item_id] = None
                    if not record.over:
                        day.forgotten.add(record.item_id)
                else:
                    day.live[record.id] = self._changed[record.id] = record

    def _tell(self, name: str, number: int, line: bytes, error: ValueError) -> None:
        file = self._folder / name
        once = (file, line.removesuffix(b"\n"))
        if once in self._told:
            return
        self._told.add(once)
        what = "is damaged" if line.endswith(b"\n") else "was torn when its process ended"
        hint = "mend it, or `dcf retrieval maintain` moves it out of the way"
        log.warning("%s:%d %s and is left out: %s; %s", file, number, what, error, hint)

    def _write(self, records: Iterable[tuple[str, Item | Gone]]) -> None:
        """Append records to files, all or none, and wait for the disk."""
        self._files.append((name, line_of(record)) for name, record in records)

    def _rewrite(
        self,
        lock: int,
        name: str,
        is_gone: Callable[[bytes], bool] = lambda _: False,
        gone: bytes = b"",
    ) -> None:
        lines = _kept_lines(self._folder / name, self._days[name].live)
        kept = b"".join(one for one in lines if not is_gone(one)) + gone
        # Who dies behind this has the others read again what did not change.
        self._rewritten = raise_number(lock)
        del self._days[name]
        if kept:
            self._files.replace(name, [kept])
        else:
            (self._folder / name).unlink()
            sync_names(self._folder)


def _kept_lines(file: Path, live: Mapping[str, Item]) -> Iterator[bytes]:
    """The lines of what is there, of what was forgotten, and those that cannot be read: somebody
    may mend them."""
    for line in _lines_in(file):
        if line == b"\n":
            continue
        try:
            record = record_in(line)
        except ValueError:
            yield line
            continue
        forgets = isinstance(record, Gone) and not record.over
        if forgets or (isinstance(record, Item) and live.get(record.id) == record):
            yield line


def _lines_in(file: Path) -> Iterator[bytes]:
    """Each with its end, also the last one."""
    with file.open("rb") as stream:
        for line in stream:
            yield line if line.endswith(b"\n") else line + b"\n"


def _is_damaged(line: bytes) -> bool:
    """Whether it cannot be read; an empty one ends a line that was torn."""
    if line == b"\n":
        return False
    try:
        record_in(line)
    except ValueError:
        return True
    return False


def _day_of(item: Item) -> str:
    day = datetime.fromtimestamp(item.timestamp / 1000, UTC).date()
    return f"{_FIRST}{day.isoformat()}{_LAST}"
