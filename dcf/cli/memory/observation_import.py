"""``dcf memory observations import``: observations of other memories."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.memory.opening import opened, person
from dcf.cli.screen import Progress, Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch, listed, summary
from dcf.cli.wording import counted
from dcf.memory import ArrivingObservation, InvalidEntry, Memory, TakenIn, read_line
from dcf.problem import Problem

_BATCH = 200
"""Observations of one transaction."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An observation, and in which line it stands."""

    line: int
    one: ArrivingObservation


@dataclass(slots=True)
class _Report:
    """What became of a file so far."""

    path: Path
    taken: TakenIn = field(default_factory=TakenIn)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def add(self, taken: TakenIn) -> None:
        before = self.taken
        self.taken = TakenIn(
            before.new + taken.new,
            before.seen_again + taken.seen_again,
            before.known + taken.known,
        )

    def refused(self, line: int, invalid: InvalidEntry) -> None:
        file = str(self.path)
        self.problems += [replace(one, file=file, line=line) for one in invalid.problems]


async def import_observations(settings: Settings, path: Path, screen: Screen) -> Answer:
    """Bring in the observations of a file. Every line that is whole and right is kept, whatever is
    wrong with others; all that is wrong is told. Raises NoSuch, OSError."""
    _demand(path)
    report = _Report(path)
    async with opened(settings, make=True) as memory:
        with screen.working(f"reading {path}") as progress:
            await _take_in(memory, report, progress)
    return _answer(report)


def _demand(path: Path) -> None:
    if not path.is_file():
        hint = "name a file that `dcf memory observations export` wrote"
        raise NoSuch("CLI_OBSERVATIONS_FILE", f"there is no file at {path}", hint)


async def _take_in(memory: Memory, report: _Report, progress: Progress) -> None:
    placed, read = _placed(report), 0
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


def _placed(report: _Report) -> Iterator[Placed]:
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


def _answer(report: _Report) -> Answer:
    problems = sorted(report.problems, key=lambda one: one.line or 0)
    bad = len({one.line for one in problems})
    taken = report.taken
    fields: dict[str, Any] = {
        "file": str(report.path),
        "new": taken.new,
        "seen_again": taken.seen_again,
        "known": taken.known,
        "refused": bad,
        "unknown": dict(report.unknown),
        "problems": [one.to_dict() for one in problems],
    }
    line = f"{report.path}: {counted(taken.new, 'new observation', 'new observations')}"
    line += f", {taken.seen_again} known from more sources now, {taken.known} known, {bad} refused"
    show = [line]
    if report.unknown:
        told = ", ".join(f"{name} {count:,}" for name, count in report.unknown.most_common())
        show.append(f"unknown fields, not kept: {told}")
    if not problems:
        return Answer(fields, show, "imported")
    note = ErrorNote(
        "observation_problems", summary(problems), "all other lines were kept", listed(problems)
    )
    return Answer(fields, show, "error", note, BAD_INPUT)
