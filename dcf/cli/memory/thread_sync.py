"""``dcf memory threads sync``: bringing files of other programs in, and keeping them in step."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.memory.opening import opened, person, source_in
from dcf.cli.screen import Progress, Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch, listed, summary
from dcf.cli.wording import counted
from dcf.memory import FileReport, Memory, ThreadFiles
from dcf.problem import Problem

_STEP_MS = 200
"""Saves that come closer together are one."""
_UNDECODABLE = "Unable to decode path"
"""How watchfiles says that the name of a file is not in UTF-8."""


@dataclass(frozen=True, slots=True)
class SyncOrder:
    """A file or folder; of what format, and of what project, if that is said."""

    path: Path
    format: str | None = None
    project: str | None = None


async def sync_threads(settings: Settings, order: SyncOrder, screen: Screen) -> Answer:
    """Bring everything at the path up to date, once. What is whole is kept whatever else is wrong;
    all problems are told. Raises NoSuch."""
    _demand(order)
    async with opened(settings, make=True) as memory:
        with screen.working(f"reading {order.path}") as progress:
            reports = [report async for report in _told(memory, order, progress)]
    return _answer(reports)


async def watch_threads(settings: Settings, order: SyncOrder, screen: Screen) -> Answer:
    """The same, and again at every change, until Ctrl-C. Raises NoSuch."""
    _demand(order)
    last: dict[str, FileReport] = {}
    syncs = 0
    try:
        async with opened(settings, make=True) as memory:
            folder = order.path if order.path.is_dir() else order.path.resolve().parent
            own = str(source_in(settings).path.resolve())
            begun = False
            async for changed in _changes(folder, own):
                if changed:
                    syncs += 1
                    async for report in _told(memory, order, Progress(lambda _text: None)):
                        last[report.path] = report
                        if not report.unchanged:
                            _say(report, screen)
                if not begun:
                    begun = True
                    screen.say(f"watching {order.path}; Ctrl-C ends it")
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    answer = _answer(last.values())
    fields = {**answer.fields, "syncs": syncs}
    return Answer(fields, [f"stopped after {counted(syncs, 'sync', 'syncs')}"], "stopped")


async def _changes(folder: Path, own: str) -> AsyncIterator[bool]:
    """Whether something in ``folder`` has changed, again and again: at first, since nothing was
    read, and then but for what begins with ``own``, as what is kept may be kept there. Raises
    OSError if the folder is gone."""
    from watchfiles import awatch
    from watchfiles._rust_notify import WatchfilesRustInternalError

    changed = True
    while True:
        try:
            # Watching begins before the first reading: no save between them is lost.
            async for changes in awatch(
                folder,
                watch_filter=lambda _, path: not path.startswith(own),
                step=_STEP_MS,
                yield_on_timeout=True,
                rust_timeout=_STEP_MS,
            ):
                yield changed or bool(changes)
                changed = False
            return
        except* WatchfilesRustInternalError as errors:
            # A name that is not in UTF-8 ends a watch: the next one begins with a reading.
            if not all(_UNDECODABLE in str(one) for one in errors.exceptions):
                raise
        await asyncio.to_thread(folder.stat)
        changed = True


def _demand(order: SyncOrder) -> None:
    if not order.path.exists():
        hint = "name a file, an archive, or a folder that another program writes to"
        raise NoSuch("CLI_THREADS_PATH", f"there is nothing at {order.path}", hint)
    if order.format is not None and order.format not in ThreadFiles.formats():
        hint = f"one of {', '.join(ThreadFiles.formats())}"
        raise NoSuch("CLI_THREADS_FORMAT", f"there is no format {order.format!r}", hint)


async def _told(memory: Memory, order: SyncOrder, progress: Progress) -> AsyncIterator[FileReport]:
    by = person(f"read from {order.path}")
    files = turns = 0
    reports = memory.thread_files.sync(
        order.path, by=by, format=order.format, project=order.project
    )
    async for report in reports:
        files, turns = files + 1, turns + report.turns
        progress.tell(f"{files:,} files, {turns:,} turns: {report.path}")
        yield report


def _say(report: FileReport, screen: Screen) -> None:
    for line in listed(report.problems):
        screen.say(line, style="yellow")
    if report.formats:
        screen.say(_line(report))


def _answer(reports: Iterable[FileReport]) -> Answer:
    found = list(reports)
    problems = [problem for report in found for problem in report.problems]
    read = [report for report in found if report.formats and not report.unchanged]
    kept = [report for report in found if report.formats]
    over = [report for report in found if not report.formats]
    total = {
        "files": len(found),
        "read": len(read),
        "unchanged": len(kept) - len(read),
        "passed_over": len(over),
        "threads": sum(report.threads for report in kept),
        "turns": sum(report.turns for report in kept),
        "new_turns": sum(report.new_turns for report in read),
        "passed_turns": sum(report.passed for report in read),
        "unknown": _sum(report.unknown for report in kept),
        "left_out": _sum(report.left_out for report in kept),
    }
    fields: dict[str, Any] = {
        "total": total,
        "files": [_entry(report) for report in found],
        "problems": [problem.to_dict() for problem in problems],
    }
    shown = [
        problem for problem in problems if problem.code != "transcript-format" or len(found) == 1
    ]
    show = [*listed(shown), *(_line(report) for report in read), *_totals(total)]
    answer = Answer(fields, show, "synced")
    return _failed(answer, problems) if any(one.is_error for one in problems) else answer


def _failed(answer: Answer, problems: list[Problem]) -> Answer:
    hint = "all that is whole was kept"
    note = ErrorNote("transcript_problems", summary(problems), hint)
    return replace(answer, status="error", error=note, exit_code=BAD_INPUT)


def _entry(report: FileReport) -> dict[str, Any]:
    entry = asdict(report)
    del entry["problems"]
    return {**entry, "formats": list(report.formats)}


def _sum(counts: Iterable[Mapping[str, int] | None]) -> dict[str, int]:
    whole = Counter[str]()
    for count in counts:
        whole.update(count or {})
    return dict(whole.most_common())


def _line(report: FileReport) -> str:
    threads = counted(report.threads, "thread", "threads")
    turns = counted(report.turns, "turn", "turns")
    line = f"{report.path}: {', '.join(report.formats)}, {threads}, {turns}"
    line += f" ({report.new_turns} new, {report.passed} edited, gone or left)"
    return line + _counts("; unknown, kept", report.unknown)


def _totals(total: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{counted(total['read'], 'file', 'files')} read, {total['unchanged']} unchanged,"
        f" {total['passed_over']} of no known format",
        f"{counted(total['threads'], 'thread', 'threads')},"
        f" {counted(total['turns'], 'turn', 'turns')}: {total['new_turns']} new,"
        f" {total['passed_turns']} edited, gone or left"
        + _counts("; unknown, kept", total["unknown"]),
    ]
    if total["left_out"]:
        lines.append(_counts("no part of a conversation", total["left_out"]))
    return lines


def _counts(what: str, counts: Mapping[str, int] | None) -> str:
    told = ", ".join(f"{kind} {count:,}" for kind, count in (counts or {}).items())
    return f"{what}: {told}" if told else ""
