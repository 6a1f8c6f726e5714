"""``dcf memory observations import``: observations of other memories and programs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.memory.opening import opened, person
from dcf.cli.screen import Progress, Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NoSuch, listed, summary
from dcf.cli.wording import counted
from dcf.memory import (
    ArrivingObservation,
    ClaudeMem,
    InvalidEntry,
    Memory,
    TakenIn,
    is_database,
    open_claude_mem,
    read_line,
)
from dcf.problem import Problem

_BATCH = 200
"""Observations of one transaction."""
_SHOWN = 20
"""How many kinds people are shown; --json has all."""


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """Which file; of a database of another program the ``projects`` that are wanted, each a folder
    of the same name or NAME=FOLDER (empty: all, called as they are there)."""

    path: Path
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """An observation, and in which line or row it stands."""

    line: int
    one: ArrivingObservation


@dataclass(slots=True)
class _Report:
    """What became of a file so far. ``unknown`` counts fields that are not kept, or, of a database,
    words that nobody knows; ``left`` what was not taken out of it."""

    path: Path
    is_database: bool = False
    taken: TakenIn = field(default_factory=TakenIn)
    unknown: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def add(self, taken: TakenIn) -> None:
        before = self.taken
        self.taken = TakenIn(
            before.new + taken.new,
            before.seen_again + taken.seen_again,
            before.known + taken.known,
            before.changed + taken.changed,
        )

    def refused(self, line: int, invalid: InvalidEntry) -> None:
        file = str(self.path)
        self.problems += [replace(one, file=file, line=line) for one in invalid.problems]


async def import_observations(settings: Settings, order: ImportOrder, screen: Screen) -> Answer:
    """Bring in the observations of a file. Every one that is whole and right is kept, whatever is
    wrong with others; all errors are reported. Raises NoSuch, BadInput, NoClaudeMem,
    DamagedDatabase, LockedDatabase, OSError."""
    _demand(order.path)
    report = _Report(order.path, is_database(order.path))
    with ExitStack() as stack:
        if report.is_database:
            database = stack.enter_context(open_claude_mem(order.path))
            placed = _rows(database, _folders(database, order), report)
        else:
            _demand_no_projects(order)
            placed = _lines(report)
        async with opened(settings, make=True) as memory:
            with screen.working(f"reading {order.path}") as progress:
                await _take_in(memory, placed, report, progress)
    return _answer(report)


def _demand(path: Path) -> None:
    if not path.is_file():
        hint = "name a file that `dcf memory observations export` wrote, or claude-mem's database"
        raise NoSuch("CLI_OBSERVATIONS_FILE", f"there is no file at {path}", hint)


def _demand_no_projects(order: ImportOrder) -> None:
    if order.projects:
        message = f"each line of {order.path} says of which project it is"
        hint = "leave out --project: it is for databases of claude-mem"
        raise BadInput([Problem("CLI_OBSERVATIONS_PROJECT", message, hint=hint, file="--project")])


def _folders(database: ClaudeMem, order: ImportOrder) -> dict[str, str] | None:
    """The folder of each project that is wanted, by its name there; None for all. Raises BadInput
    with all that are not there."""
    folders: dict[str, str] = {}
    for one in order.projects:
        name, named, folder = one.rpartition("=")
        path = Path(folder).expanduser().resolve()
        folders[name if named else path.name] = str(path)
    there = ", ".join(f"{name} {count:,}" for name, count in database.projects.items()) or "none"
    hint = f"say NAME=FOLDER for a folder of another name; there are: {there}"
    problems = [
        Problem(
            "CLI_OBSERVATIONS_PROJECT",
            f"{order.path} has no observations of a project {name!r}",
            hint=hint,
            file="--project",
        )
        for name in folders
        if name not in database.projects
    ]
    if problems:
        raise BadInput(problems)
    return folders or None


async def _take_in(
    memory: Memory, placed: Iterator[Placed], report: _Report, progress: Progress
) -> None:
    read = 0
    while batch := await asyncio.to_thread(lambda: list(islice(placed, _BATCH))):
        await _keep(memory, report, batch)
        read += len(batch)
        progress.tell(f"{report.path}: {counted(read, 'observation', 'observations')}")


async def _keep(memory: Memory, report: _Report, batch: Sequence[Placed]) -> None:
    """Keep them all; where one of them cannot be kept, the others."""
    try:
        by = person(f"imported from {report.path.name}")
        report.add(await memory.observations.take_in(*(it.one for it in batch), by=by))
    except InvalidEntry as invalid:
        if len(batch) == 1:
            report.refused(batch[0].line, invalid)
            return
        middle = len(batch) // 2
        await _keep(memory, report, batch[:middle])
        await _keep(memory, report, batch[middle:])


def _lines(report: _Report) -> Iterator[Placed]:
    with report.path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                one, unknown = read_line(line)
            except InvalidEntry as invalid:
                report.refused(number, invalid)
                continue
            report.unknown.update(unknown)
            yield Placed(number, one)


def _rows(database: ClaudeMem, folders: dict[str, str] | None, report: _Report) -> Iterator[Placed]:
    report.left.update(database.others)
    if folders is not None:
        report.left.update(
            {f"project {name}": n for name, n in database.projects.items() if name not in folders}
        )
    for row in database.rows(folders):
        try:
            one, unknown = row.read()
        except InvalidEntry as invalid:
            report.refused(row.number, invalid)
            continue
        report.unknown.update(unknown)
        if one is None:
            report.left["observations without a word"] += 1
        else:
            yield Placed(row.number, one)


def _answer(report: _Report) -> Answer:
    problems = sorted(report.problems, key=lambda one: one.line or 0)
    bad = len({one.line for one in problems})
    taken = report.taken
    fields: dict[str, Any] = {
        "file": str(report.path),
        "new": taken.new,
        "seen_again": taken.seen_again,
        "known": taken.known,
        "changed": taken.changed,
        "refused": bad,
        "unknown": dict(report.unknown),
        "left": dict(report.left),
        "problems": [one.to_dict() for one in problems],
    }
    line = f"{report.path}: {counted(taken.new, 'new observation', 'new observations')}"
    line += f", {taken.changed} changed" if report.is_database else ""
    line += f", {taken.seen_again} known from more sources now, {taken.known} known, {bad} refused"
    show = [line]
    what = "unknown words, kept in notes" if report.is_database else "unknown fields, not kept"
    show += [*_told(what, report.unknown), *_told("not brought in", report.left)]
    if not problems:
        return Answer(fields, show, "imported")
    rows = "rows" if report.is_database else "lines"
    note = ErrorNote(
        "observation_problems", summary(problems), f"all other {rows} were kept", listed(problems)
    )
    return Answer(fields, show, "error", note, BAD_INPUT)


def _told(what: str, counts: Counter[str]) -> list[str]:
    if not counts:
        return []
    told = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_SHOWN))
    return [f"{what}: {told}{', …' if len(counts) > _SHOWN else ''}"]
