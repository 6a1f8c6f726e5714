"""``dcf memory gc``: what is kept no longer is given up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.wording import size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import GarbageReport, Retention
from dcf.problem import Problem

_DAY_MS = 24 * 3600 * 1000
_DAYS: Mapping[str, str] = {
    "events": "events_ms",
    "letters": "letters_ms",
    "turns": "turns_ms",
    "sessions": "sessions_ms",
    "scratch-pads": "scratch_pads_ms",
    "consolidations": "consolidations_ms",
    "orphan-blocks": "orphan_blocks_ms",
    "archived-messages": "archived_messages_ms",
}
_MOST: Mapping[str, str] = {
    "events": "most_events",
    "passages": "most_passages",
    "bytes": "most_bytes",
}
FOR_EVER = "ever"


async def collect(
    settings: Settings, retention: Retention, screen: Screen, *, dry_run: bool, sure: bool
) -> Answer:
    """Give up what ``retention`` says is kept no longer, once that is confirmed."""
    by = person("asked for by `dcf memory gc`")
    async with opened(settings) as memory:
        if dry_run or not sure:
            tried = await memory.collect_garbage(retention, by=by, dry_run=True)
            if dry_run or not tried.count:
                return _answer(tried)
            for line in _lines(tried):
                screen.say(line)
        confirm("Give it up for good?", screen, sure=sure)
        with screen.working("giving up what is kept no longer"):
            return _answer(await memory.collect_garbage(retention, by=by))


def retention_of(days: Sequence[str], most: Sequence[str]) -> Retention:
    """The default retention with what a command line says of it, as in ``events=30`` or
    ``events=ever``. Raises BadInput with all that cannot be understood."""
    problems: list[Problem] = []
    given: dict[str, Any] = {}
    # Any of these, in ms or as it is, is a number that the file of a memory can be asked with.
    for option, words, known, scale, digits in (
        ("--keep-days", days, _DAYS, _DAY_MS, 9),
        ("--most", most, _MOST, 1, 18),
    ):
        for word in words:
            kind, _, value = word.partition("=")
            if kind not in known:
                hint = f"one of {', '.join(known)}, as in {next(iter(known))}=30"
                message = f"{word!r} names nothing that is given up"
                problems.append(Problem("CLI_RETENTION", message, hint=hint, file=option))
            elif value != FOR_EVER and not re.fullmatch(f"[0-9]{{1,{digits}}}", value):
                message = f"{value!r} is no number of {kind}"
                hint = f"a number of at most {digits} digits, or {FOR_EVER}"
                problems.append(Problem("CLI_RETENTION_VALUE", message, hint=hint, file=option))
            else:
                given[known[kind]] = None if value == FOR_EVER else int(value) * scale
    if problems:
        raise BadInput(problems)
    return replace(Retention(), **given)


def _answer(report: GarbageReport) -> Answer:
    status = "tried" if report.dry_run else "collected"
    fields = {**asdict(report), "count": report.count, "bytes": report.bytes}
    return Answer(fields, _lines(report), status)


def _lines(report: GarbageReport) -> list[str]:
    verb = "would go" if report.dry_run else "went"
    lines = [
        f"{one.kind.replace('_', ' '):<22}{one.count:>12,}  {size_text(one.bytes)}"
        for one in report.garbage
        if one.count
    ]
    before, after = report.file_bytes
    lines.append(f"{counted(report.count, 'row', 'rows')} with {size_text(report.bytes)} {verb}")
    if not report.dry_run:
        lines.append(f"the file has {size_text(after)}, and had {size_text(before)}")
    if report.border:
        lines.append(f"a rollback goes back to event {report.border} and no further")
    if report.over_bytes:
        lines.append(f"the file is still {size_text(report.over_bytes)} larger than it may be")
    return lines
