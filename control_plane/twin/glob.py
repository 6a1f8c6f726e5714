"""Redis's glob patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from control_plane.errors import ServerError
from control_plane.twin.command import syntax_error
from control_plane.twin.numbers import parse_integer

_PART = re.compile(r"\\(.)|\[(\^?)((?:\\.|[^\]\\])*)\]|(.)", re.S)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """``*``, ``?``, ``[a-z]``, ``[^a]`` and ``\\`` as a regular expression."""
    return re.compile("".join(map(_translated, _PART.finditer(pattern))), re.S)


def scanned(cursor: str, options: Sequence[str]) -> Callable[[str], object]:
    """Whether a scan with these ``options`` answers with a name."""
    if not cursor.isdecimal():
        raise ServerError("ERR invalid cursor")
    pattern = "*"
    for name, text in zip(options[::2], options[1::2], strict=False):
        if name.upper() == "MATCH":
            pattern = text
        elif name.upper() == "COUNT":
            if parse_integer(text) < 1:
                raise syntax_error()
        else:
            raise syntax_error()
    if len(options) % 2:
        raise syntax_error()
    return compiled(pattern).fullmatch


def _translated(part: re.Match[str]) -> str:
    escaped, negated, members, plain = part.groups()
    if escaped is not None:
        return re.escape(escaped)
    if members is not None:
        if not members:
            return "." if negated else r"(?!)"
        # Everything but the range sign and the escapes stands for itself.
        inside = re.sub(r"\\(.)|([\[\]&~|^])", lambda m: re.escape(m[1] or m[2]), members)
        return f"[{negated}{inside}]"
    return {"*": ".*", "?": "."}.get(plain, re.escape(plain))
