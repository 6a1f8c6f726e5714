"""Redis's glob patterns."""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(r"\\(.)|\[(\^?)((?:\\.|[^\]\\])*)\]|(.)", re.S)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """``*``, ``?``, ``[a-z]``, ``[^a]`` and ``\\`` as a regular expression."""
    return re.compile("".join(map(_translated, _PART.finditer(pattern))), re.S)


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
