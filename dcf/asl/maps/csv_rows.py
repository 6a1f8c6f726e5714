"""Rows of delimited text, by the rules that Step Functions has for it.

They are those of "How Step Functions parses input CSV files" in the developer guide, and differ
from what Python's own reader does: a backslash escapes, and quotes are doubled everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_DOUBLED = '""'
_SPECIAL = re.compile(r'["\\\r]')
"""What makes a line more than its fields between delimiters."""


def read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The fields of each row of ``text`` that has any text; ``delimiter`` is one character.

    A field in quotes holds delimiters and newlines. A backslash before a backslash, a quote or the
    delimiter gives that character; before any other it is dropped.
    """
    end = 0
    while end < len(text):
        start = end
        newline = text.find("\n", start)
        line = text[start : newline if newline >= 0 else len(text)].removesuffix("\r")
        if _SPECIAL.search(line) is None:
            end = newline + 1 if newline >= 0 else len(text)
            row = line.split(delimiter)
        else:
            row, end = _read_row(text, start, delimiter)
        if row != [""] or text[start] in '"\\':
            yield row


def _read_row(text: str, end: int, delimiter: str) -> tuple[list[str], int]:
    """The row that starts at ``end``, and where the next one does."""
    field, unescape = _patterns(delimiter)
    row: list[str] = []
    while True:
        found = field.match(text, end)
        assert found is not None  # a field may be empty
        quoted, plain, mark = found.groups()
        content = plain if quoted is None else quoted + plain
        if '"' in content or "\\" in content:
            content = unescape.sub(_unescaped, content)
        row.append(content)
        end = found.end()
        if mark != delimiter:
            return row, end


def _unescaped(found: re.Match[str]) -> str:
    return '"' if found.group() == _DOUBLED else found.group(1) or ""


@lru_cache(maxsize=8)
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """One field with what ends it, and what is not taken as it stands inside of a field."""
    mark = re.escape(delimiter)
    # Atomic: a field of many megabytes is read without a way back for each character.
    quoted = r'"([^"\\]*+(?>(?:(?:""|\\.)[^"\\]*+)*))(?:"|\Z)'
    plain = rf"([^{mark}\r\n\\]*+(?>(?:\\[^\r\n][^{mark}\r\n\\]*+)*)\\?)"
    field = re.compile(rf"(?>(?:{quoted})?){plain}({mark}|\r\n?|\n|\Z)", re.DOTALL)
    return field, re.compile(rf'""|\\(["\\{mark}])?')
