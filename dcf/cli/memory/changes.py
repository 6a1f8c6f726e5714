"""Changes of the memory for people: who, what, and the lines before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any

from rich.text import Text

from dcf.cli.memory.wording import moment, one_line
from dcf.memory import FORGOTTEN, Event, Memory, TextForgotten

_LINES = 12
"""Most lines of a change that are shown; --json has all."""
_COMPARED = 20_000
"""Characters of a text up to which it is shown by lines; of a longer one the stretch that
changed."""
_QUIET = frozenset({"revision", "updated_at", "created_at", "id", "agent_id", "position"})


async def described(memory: Memory, event: Event, agents: Mapping[str, str]) -> list[Text]:
    """An event in some lines; ``agents`` are the names of those that there are."""
    whole = await _texts(memory, event)
    return [heading(event, agents), *_styled(_lines(event, whole))]


def heading(event: Event, agents: Mapping[str, str], *, tried: bool = False) -> Text:
    """As in ``42  2026-11-22 18:15:50  ada  updated block anna/human  (told by ada)``; one that
    was only ``tried`` has no number yet."""
    by = event.by.name if event.by.kind == "user" else f"{event.by.kind} {event.by.name}"
    reason = f"  ({event.by.reason})" if event.by.reason else ""
    back = f" to event {event.back_to}" if event.back_to is not None else ""
    return Text.assemble(
        (f"{'' if tried else event.seq:>6}", "bold"),
        f"  {moment(event.at)}  {by}  {event.operation.replace('_', ' ')} ",
        (_what(event, agents), "bold"),
        back,
        (reason, "dim"),
    )


def fragments(event: Event) -> list[Text]:
    """What the event changed, by the stretches that it has: for one that did not happen yet."""
    return list(_styled(_lines(event, None)))


def _what(event: Event, agents: Mapping[str, str]) -> str:
    owner = agents.get(event.agent_id or "", event.agent_id or "")
    if event.entity == "agent":
        return f"agent {agents.get(event.entity_id) or _name(event) or event.entity_id}"
    # Who is let hold a block, and the block, are one thing to a reader.
    entity = "block" if event.entity == "holder" else event.entity
    if event.label is not None:
        return f"{entity} {owner}/{event.label}" if owner else f"{entity} {event.label}"
    return f"{entity} {event.entity_id}" + (f" of {owner}" if owner else "")


def _name(event: Event) -> str | None:
    row = event.change.get("created") or event.change.get("deleted") or {}
    return row.get("name")


async def _texts(memory: Memory, event: Event) -> tuple[str, str] | None:
    """A block's text before and after the event, if it changed and is short."""
    if event.entity != "block" or "value" not in event.change.get("changed", {}):
        return None
    try:
        after = await memory.events.text(event.entity_id, event.seq)
        before = await memory.events.text(event.entity_id, event.seq - 1)
    except TextForgotten:
        return None
    if after is None or before is None or max(len(after), len(before)) > _COMPARED:
        return None
    return before, after


def _lines(event: Event, whole: tuple[str, str] | None) -> Iterator[str]:
    if whole is not None:
        difference = unified_diff(whole[0].splitlines(), whole[1].splitlines(), lineterm="", n=1)
        yield from (line for line in difference if not line.startswith(("---", "+++")))
    change = event.change
    if FORGOTTEN in change:
        yield f"what it was is forgotten for good: dcf memory receipts {change[FORGOTTEN]}"
        return
    for sign, key in (("+", "created"), ("-", "deleted")):
        if key in change:
            yield from _row(sign, event.entity, change[key])
    for column, difference in change.get("changed", {}).items():
        if column == "value" and whole is not None:
            continue
        yield from _column(column, difference)


def _row(sign: str, entity: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Of a row that came or went: its text, or what it says."""
    text = row.get("value") or row.get("text") or row.get("content") or row.get("title")
    if text:
        yield from (f"{sign}{line}" for line in str(text).splitlines())
    elif entity == "agent":
        yield f"{sign}{row['name']}: {one_line(row['description'] or row['system'] or '')}"


def _column(column: str, difference: Any) -> Iterator[str]:
    if column in _QUIET:
        return
    if isinstance(difference, Mapping):
        where = f"{column} at character {difference['at']:,}: "
        for sign, part in (("-", difference["removed"]), ("+", difference["added"])):
            if part:
                yield f"{sign}{where}{one_line(part)}"
        return
    before, after = difference
    yield f"-{column}: {_shown(before)}"
    yield f"+{column}: {_shown(after)}"


def _shown(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _styled(lines: Iterator[str]) -> Iterator[Text]:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    shown = list(lines)
    for line in shown[:_LINES]:
        yield Text(f"        {one_line(line, 200)}", styles.get(line[:1], ""))
    if len(shown) > _LINES:
        yield Text(f"        … {len(shown) - _LINES} more lines; --json has all", "dim")
