"""Front matter: data in YAML, TOML or JSON that stands before a text."""

from __future__ import annotations

import json
import re

from dcf.sop.runbook.wording import Piece

MEMBER = re.compile(r"\"?(?P<name>[A-Za-z][\w -]{0,40}?)\"?\s*[:=]\s*(?P<value>.*)")
_FENCED = re.compile(
    r"(?P<mark>---|\+\+\+)[ \t]*\n(?P<body>(?:.*\n){0,200}?)(?P=mark)[ \t]*(?:\n|$)"
)
_WORD = re.compile(r"[^\W_]")


def front_end(text: str) -> int:
    """How many characters of ``text`` are front matter, its last line break included."""
    found = _FENCED.match(text)
    if found is not None:
        return found.end() if MEMBER.match(found["body"]) else 0
    if not text.startswith("{\n"):
        return 0
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return 0  # a text that begins with a brace
    behind = text[end:].partition("\n")
    if not value or behind[0].strip() or not _WORD.search(behind[2]):
        return 0  # JSON alone is no front matter
    return len(text) - len(behind[2])


def front_members(front: str) -> list[Piece]:
    """The lines of front matter that say something."""
    comma = "," if front.startswith("{") else ""
    return [
        Piece(at, at, row.strip().removesuffix(comma))
        for at, row in enumerate(front.split("\n"), start=1)
        if _WORD.search(row)
    ]
