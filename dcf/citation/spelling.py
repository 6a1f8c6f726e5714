"""How an id is written as one segment of a URI, and what can be wrong with one that was read.

RFC 3986, section 2: letters, digits and ``-._~`` stand for themselves; of everything else the bytes
of its UTF-8 form are written ``%XX``, with upper-case digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote_to_bytes

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE_OR_OTHER = re.compile(
    "(?P<escape>%[0-9A-Fa-f]{2})|(?P<percent>%)|[^A-Za-z0-9._~\ud800-\udfff-]"
)
_SHOWN = 5
"""So many characters are named in one message."""


def encoded(text: str) -> str:
    """``text`` as a segment. Raises UnicodeEncodeError for half of a surrogate pair."""
    return quote(text, safe="")


def decoded(segment: str) -> str | None:
    """The text of a segment, however it is written: a character that should have been encoded is
    itself, and so is a ``%`` that begins no escape. None where the bytes are not UTF-8."""
    try:
        return unquote_to_bytes(segment).decode("utf-8")
    except UnicodeError:
        return None


def mistakes(segment: str) -> Iterator[str]:
    """What is not written as it must be in a segment, in words, each kind of mistake once."""
    bare, lower, needless, broken = (dict[str, None]() for _ in range(4))
    for match in _ESCAPE_OR_OTHER.finditer(segment):
        found = match[0]
        if match["escape"] is None:
            (broken if match["percent"] else bare)[found] = None
        elif int(found[1:], 16) in _UNRESERVED:
            needless[found] = None
        elif found != found.upper():
            lower[found] = None
    if bare:
        yield f"{_named(bare)} must be percent-encoded"
    if broken:
        yield "% begins no escape of two hexadecimal digits"
    if lower:
        yield f"{_named(lower)} must have upper-case digits"
    if needless:
        yield f"{_named(needless)} must stand unencoded"


def _named(found: dict[str, None]) -> str:
    shown = ", ".join(map(repr, list(found)[:_SHOWN]))
    return shown if len(found) <= _SHOWN else f"{shown} and {len(found) - _SHOWN} more"
