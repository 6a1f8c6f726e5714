"""Putting old messages away: a summary stands for them, and they stay where search finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.consolidation.settings import ConsolidationSettings
from dcf.memory.consolidation.shortening import shortened
from dcf.memory.consolidation.snapshot import Snapshot
from dcf.memory.consolidation.writing import Writer, conversation_prompt
from dcf.memory.context.turns import Turn, turns_of
from dcf.memory.message import NewMessage
from dcf.memory.messages.pairs import halves, parts_of
from dcf.memory.messages.pricing import priced

_LARGEST = 2_000
"""Tokens of a summary."""
_SMALLEST = 64
_SHARE = 8
"""The part of the window that a summary may take: one eighth."""
_LINE = 400
"""Characters of a message that the rule looks at."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """``summary`` takes the place of the messages ``seqs``, which it stands for from ``first`` to
    ``last``."""

    change: ConsolidationChange
    summary: str
    seqs: tuple[int, ...]
    first: int
    last: int


async def archive(
    now: Snapshot, settings: ConsolidationSettings, writer: Writer
) -> tuple[Farewell | None, list[LeftOut]]:
    """What to do with old messages, if there are any; and what was not done as it should have
    been."""
    turns = _old_turns(now, settings)
    rows = [row for turn in turns for row in turn.rows]
    tokens = sum(row["tokens"] for row in rows)
    most = min(_most(now), tokens - 1)
    if not any(row["role"] != "summary" for row in rows) or most < _SMALLEST:
        return None, []
    left_out = []
    text = None
    if writer.is_there:
        room = 3 * most
        # What is shortened to a few times the room has all that can stand in it.
        told = shortened(_told(rows, 4 * _LINE), 8 * room)
        text, failed = await writer.ask(conversation_prompt(told, room), room, told)
        if text is not None and _price(text) > most:
            text, failed = None, f"the model wrote more than {most:,} tokens; rules did it"
        if text is None:
            left_out.append(LeftOut("archive", None, failed))
    by_model = text is not None
    summary = _by_rule(rows, most) if text is None else text
    change = ConsolidationChange(
        "archive",
        None,
        sum(len((row["content"] + row["parts"]).encode()) for row in rows),
        len(summary.encode()),
        _reason(now, settings, rows),
        by_model,
    )
    first, last = turns[0].span[0], max(turn.span[1] for turn in turns)
    # With those that no context shows, because their call or return is missing.
    seqs = tuple(row["seq"] for row in now.live if first <= row["seq"] <= last or row in rows)
    return Farewell(change, summary, seqs, first, last), left_out


def _most(now: Snapshot) -> int:
    """The most tokens that a summary may take."""
    return min(int(now.agent["context_window"]) // _SHARE, _LARGEST)


def _old_turns(now: Snapshot, settings: ConsolidationSettings) -> list[Turn]:
    """The oldest turns of the context, as far as they are old or do not fit; and more of them where
    the summary needs the room."""
    torn = halves(now.live)
    rows = [row for row in now.live if row["seq"] not in torn]
    recent = {row["seq"] for row in rows[-settings.keep_messages :]}
    outside = sum(row["tokens"] for row in rows if row["seq"] in now.outside)
    needed = outside + _most(now) if outside else 0
    found: list[Turn] = []
    for turn in turns_of(rows):
        is_old = all(row["created_at"] < now.at - settings.archive_after_ms for row in turn.rows)
        is_needed = sum(one.tokens for one in found) < needed
        is_open = now.unfinished is not None and turn.span[1] >= now.unfinished
        if is_open or recent & set(turn.seqs) or not (is_old or is_needed):
            break
        found.append(turn)
    return found


def _reason(
    now: Snapshot, settings: ConsolidationSettings, rows: Sequence[Mapping[str, Any]]
) -> str:
    outside = sum(row["seq"] in now.outside for row in rows)
    days = settings.archive_after_ms / 86_400_000
    return (
        f"{len(rows)} messages are older than {days:g} days or outside the window ({outside} are);"
        " search still finds them"
    )


def _by_rule(rows: Sequence[Mapping[str, Any]], most: int) -> str:
    """What says most in the messages, in at most ``most`` tokens."""
    told = _told(rows, _LINE)
    room = 4 * most
    while True:
        text = shortened(told, room)
        if _price(text) <= most or room < 16:
            return text
        room = room * 3 // 4


def _price(summary: str) -> int:
    """What a summary takes in a context, in tokens."""
    (one,) = priced([NewMessage("summary", summary, replaces=(1, 1))])
    return one.tokens


def _told(rows: Sequence[Mapping[str, Any]], length: int) -> str:
    """The messages, a line for each: who said what, what was called, what came of it."""
    return "\n".join(line for line in (_line(row, length) for row in rows) if line)


def _line(row: Mapping[str, Any], length: int) -> str:
    said = " ".join(row["content"].split())
    if row["role"] == "summary":
        return str(row["content"].strip())
    parts = parts_of(row)
    calls = ", ".join(str(part.get("tool", "?")) for part in parts if part["kind"] == "call")
    returned = " ".join(
        f"{part.get('tool', 'tool')} returned {part.get('content')}"
        for part in parts
        if part["kind"] == "return"
    )
    text = " ".join(one for one in (said, f"(called {calls})" if calls else "", returned) if one)
    if not text:
        return ""
    cut = text if len(text) <= length else f"{text[: length - 1]}…"
    return f"{row['sender'] or row['role']}: {cut}"
