"""What a text must be to be kept: any text that is UTF-8 without NUL; and what a time must be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from dcf.memory.errors import InvalidEntry
from dcf.problem import Problem

LARGEST = 100_000_000
"""Bytes of UTF-8 in one text. SQLite ends at 10^9, and history keeps a text as escaped JSON."""
MOMENTS = range(-62_135_510_400_000, 253_402_214_400_000)
"""Times in ms since the epoch that are kept: those of the years 1 to 9999 without their first and
last day, so that each can be written in every time zone."""
# ``json.dumps`` would make one for each text.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def text_problems(path: str, text: str, *, filled: bool = False) -> Iterator[Problem]:
    """What is wrong with a text at ``path``; with ``filled`` it must not be blank."""
    if filled and not text.strip():
        yield Problem("memory_text_empty", f"{path} is empty", path)
    if "\0" in text:
        yield Problem(
            "memory_text_nul",
            f"{path} has a NUL at character {text.index(chr(0))}",
            path,
            "remove it: programs that read the text would stop there",
        )
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        yield Problem(
            "memory_text_surrogate",
            f"{path} has half a surrogate pair at character {error.start}",
            path,
            "decode its source with errors='replace', or as UTF-16",
        )
    else:
        if size > LARGEST:
            yield Problem(
                "memory_text_large",
                f"{path} has {size:,} bytes; a text has at most {LARGEST:,}",
                path,
                "split it into passages of the archive",
            )


def data_problems(path: str, data: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a JSON object at ``path``."""
    try:
        text = json_of(data)
    except (TypeError, ValueError, RecursionError) as error:
        yield Problem("memory_data_not_json", f"{path} is not JSON: {error}", path)
    else:
        yield from text_problems(path, text)


def json_of(data: object) -> str:
    """``data`` as it is kept."""
    return _ENCODER.encode(data)


def refuse(what: str, problems: Iterator[Problem]) -> None:
    """Raises InvalidEntry with all of ``problems``, if there are any."""
    found = tuple(problems)
    if found:
        raise InvalidEntry(what, found)


def kept_time(at: datetime) -> int | None:
    """``at``, which has a time zone, in ms since the epoch; None if no memory keeps such a time."""
    ms = round(at.timestamp() * 1000)
    return ms if ms in MOMENTS else None
