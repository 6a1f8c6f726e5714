"""Files and folders of other programs, brought into the memory and kept in step."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import json_of
from dcf.memory.database import Connection
from dcf.memory.entities import THREAD_FILE
from dcf.memory.errors import InvalidEntry
from dcf.memory.file_stamp import is_settled, stamp_of
from dcf.memory.ledger import Ledger
from dcf.memory.threads.piece import Ended, Piece
from dcf.memory.threads.readers.transcript import FORMATS, transcript
from dcf.memory.threads.syncing import Syncing
from dcf.memory.threads.threads import Threads
from dcf.problem import Problem

READER = 2
"""Raised when a reader reads what it did not before: then all files are read again."""

_BATCH = 500
_CHARACTERS = 4_000_000
"""Pieces of one transaction, and characters of them."""
_UNREADABLE = "transcript-unreadable"
_NOT_READ = frozenset({".git", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of a file. ``unchanged``: it was not read, and the rest is what was found when it
    was. ``left_out`` counts by kind what is no part of a conversation, ``unknown`` what was kept as
    it stands there because nobody knows what it means."""

    path: str
    formats: tuple[str, ...] = ()
    threads: int = 0
    turns: int = 0
    new_turns: int = 0
    passed: int = 0
    left_out: dict[str, int] | None = None
    unknown: dict[str, int] | None = None
    problems: tuple[Problem, ...] = ()
    more_problems: int = 0
    unchanged: bool = False


class ThreadFiles:
    """The files from which threads are read."""

    def __init__(self, ledger: Ledger, threads: Threads) -> None:
        self._ledger = ledger
        self._threads = threads

    @staticmethod
    def formats() -> tuple[str, ...]:
        """What ``format`` may be."""
        return tuple(sorted(FORMATS))

    async def sync(
        self, path: Path, *, by: Actor, format: str | None = None, project: str | None = None
    ) -> AsyncIterator[FileReport]:
        """Bring what stands in the file ``path``, or in the files of that folder, up to date; what
        became of each, as it is done. A file that has not changed since is not read,
        but for another ``project``. In a folder no
        links are followed, and a file that is of no known format is passed over with a warning.

        Interrupted anywhere, it goes on when it is called again. Raises OSError if there is no such
        path.
        """
        root = await asyncio.to_thread(path.resolve, strict=True)
        if not root.is_dir():
            yield await self._sync(root, by, format, project, follow=True)
            return
        for file in await asyncio.to_thread(lambda: sorted(_files_in(root))):
            report = await self._sync(file, by, format, project, follow=False)
            yield report if report.formats else _passed_over(report)

    async def _sync(
        self, path: Path, by: Actor, format: str | None, project: str | None, *, follow: bool
    ) -> FileReport:
        shown = str(path).encode("utf-8", "backslashreplace").decode()
        if shown != str(path):
            problem = Problem(_UNREADABLE, "its name is not in UTF-8", hint="rename it", file=shown)
            return FileReport(shown, problems=(problem,))
        try:
            stamp = await asyncio.to_thread(_stamp, path)
            known = await self._ledger.read(lambda connection: _known(connection, path))
            if known is not None and _is_as_kept(known[0], stamp, project):
                return replace(known[1], unchanged=True)
            report, spread = await self._read(path, by, format, project, follow=follow)
            # What is written again at once may have changed without another stamp.
            settled = not spread and await asyncio.to_thread(_is_settled, path, stamp)
            kept = _kept(stamp, project) if settled else ""
            await self._ledger.change(by, lambda journal: _note(journal, kept, report))
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            problem = Problem(_UNREADABLE, message, file=str(path))
            return FileReport(str(path), problems=(problem,))
        except InvalidEntry as invalid:
            # An id, or the path itself, is one that no memory keeps.
            problems = (replace(one, file=str(path)) for one in invalid.problems)
            return FileReport(str(path), problems=tuple(problems))
        return report

    async def _read(
        self, path: Path, by: Actor, format: str | None, project: str | None, *, follow: bool
    ) -> tuple[FileReport, bool]:
        formats, counts = dict[str, None](), Counter[str]()
        with transcript(path, format, follow=follow) as opened:
            # Whoever reads is in a thread, and waits for what was read before to be kept.
            while (part := await asyncio.to_thread(next, opened.parts, None)) is not None:
                name, pieces = part
                formats[name] = None
                syncing = Syncing(name)
                while batch := await asyncio.to_thread(_batch, pieces, project):
                    for synced in await self._threads.keep(syncing, batch, by=by):
                        counts["threads"] += 1
                        counts["new_turns"] += len(synced.new_turns)
                        counts["passed"] += len(synced.passed)
                    counts["turns"] += sum(not isinstance(piece, Ended) for piece in batch)
        tally = opened.tally
        report = FileReport(
            str(path),
            tuple(formats),
            counts["threads"],
            counts["turns"],
            counts["new_turns"],
            counts["passed"],
            left_out=dict(tally.left_out),
            unknown=dict(tally.unknown),
            problems=tuple(tally.problems),
            more_problems=tally.more_problems,
        )
        return report, tally.spread


def _passed_over(report: FileReport) -> FileReport:
    """A folder has other files, too: that one is of no known format is no error there."""
    problems = (
        replace(one, severity="warning") if one.code == "transcript-format" else one
        for one in report.problems
    )
    return replace(report, problems=tuple(problems))


def _batch(pieces: Iterator[Piece], project: str | None) -> list[Piece]:
    batch, size = list[Piece](), 0
    for piece in islice(pieces, _BATCH):
        if isinstance(piece, Ended):
            if project is not None:
                piece = replace(piece, outline=replace(piece.outline, project=project))
        else:
            size += len(piece.turn.text) + sum(len(tool.output) for tool in piece.turn.tools)
        batch.append(piece)
        if size > _CHARACTERS:
            break
    return batch


def _files_in(root: Path) -> Iterator[Path]:
    """The regular files below ``root``, without links."""
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if name not in _NOT_READ]
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def _stamp(path: Path) -> str:
    return stamp_of(path.stat())


def _kept(stamp: str, project: str | None) -> str:
    return stamp if project is None else f"{stamp}|{project}"


def _is_as_kept(kept: str, stamp: str, project: str | None) -> bool:
    """Whether a file is as it was when it was read, and for the same project if one is named."""
    return kept == _kept(stamp, project) or (project is None and kept.startswith(f"{stamp}|"))


def _is_settled(path: Path, stamp: str) -> bool:
    status = path.stat()
    return stamp_of(status) == stamp and is_settled(status)


def _known(connection: Connection, path: Path) -> tuple[str, FileReport] | None:
    row = connection.execute(
        "SELECT stamp, report FROM thread_files WHERE path = ? AND reader = ?", (str(path), READER)
    ).fetchone()
    return None if row is None else (row["stamp"], _report_of(json.loads(row["report"])))


def _report_of(kept: dict[str, Any]) -> FileReport:
    problems = tuple(Problem(**one) for one in kept["problems"])
    return FileReport(**{**kept, "formats": tuple(kept["formats"]), "problems": problems})


def _note(journal: Journal, stamp: str, report: FileReport) -> None:
    row = {
        "path": report.path,
        "stamp": stamp,
        "reader": READER,
        "report": json_of(asdict(replace(report, new_turns=0, passed=0))),
        "synced_at": journal.at,
    }
    known = THREAD_FILE.find(journal.connection, report.path) is not None
    (THREAD_FILE.replace if known else THREAD_FILE.insert)(journal.connection, row)
