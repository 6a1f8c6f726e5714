"""A message's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

from dcf.memory.audit.entity import Row
from dcf.memory.checking import json_of, text_problems
from dcf.memory.message import Message, NewMessage, Role
from dcf.problem import Problem

_NAMES = ("session_id", "run_id", "sender", "correlation_id")


def message_of(row: Row) -> Message:
    """The message in a row."""
    known = {field.name for field in fields(Message)} - {"replaces", "parts"}
    first, last = row["replaces_first"], row["replaces_last"]
    return Message(
        **{name: row[name] for name in known},
        parts=tuple(json.loads(row["parts"])),
        replaces=None if first is None else (first, last),
    )


def columns_of(new: NewMessage, tokens: int) -> dict[str, Any]:
    """The columns of a new message that do not depend on others; ``tokens`` is its price."""
    first, last = new.replaces or (None, None)
    return {
        "role": new.role,
        "content": new.content,
        "parts": json_of(list(new.parts)),
        "tokens": tokens,
        **{name: getattr(new, name) for name in _NAMES},
        "replaces_first": first,
        "replaces_last": last,
        "archived_at": None,
    }


def problems(place: str, new: NewMessage) -> Iterator[Problem]:
    """What is wrong with a new message by itself."""
    if new.role not in get_args(Role):
        known = ", ".join(get_args(Role))
        yield Problem("memory_message_role", f"role is {new.role!r}, not {known}", f"{place}/role")
    yield from text_problems(f"{place}/content", new.content)
    for name in _NAMES:
        if getattr(new, name) is not None:
            yield from text_problems(f"{place}/{name}", getattr(new, name))
    for number, part in enumerate(new.parts):
        yield from _part_problems(f"{place}/parts/{number}", part)
    if (new.role == "summary") != (new.replaces is not None):
        yield Problem(
            "memory_message_summary",
            "a summary, and nothing else, says which messages it stands for",
            f"{place}/replaces",
            "give `replaces` as (first seq, last seq) with the role summary",
        )


def _part_problems(place: str, part: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        text = json_of(part)
    except (TypeError, ValueError, RecursionError) as error:
        yield Problem("memory_data_not_json", f"{place} is not JSON: {error}", place)
        return
    yield from text_problems(place, text)
    if "\\u0000" in text:
        yield Problem("memory_text_nul", f"{place} has a NUL", place, "remove it")
    if not isinstance(part, Mapping) or part.get("kind") not in ("call", "return"):
        yield Problem(
            "memory_message_part", f"{place} is neither a call nor a return", f"{place}/kind"
        )
    elif not isinstance(part.get("id"), str) or not part["id"]:
        yield Problem(
            "memory_message_part", f"{place} does not say which call it is", f"{place}/id"
        )
