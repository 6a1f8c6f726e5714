"""Regular expressions with a bound on the time that one search may take."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import regex

from dcf.schema.regex_rules import compile_regex

SECONDS = 0.1
"""How long one search may take."""

_SHOWN = 80
_LONGEST = 10_000
"""Characters of an expression: compiling takes longer than searching, and is not stopped."""


class PatternTooSlow(Exception):
    """A search was stopped, or not begun: the expression backtracks without end on this text, or
    is too large. Its text is the expression, shortened."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern if len(pattern) <= _SHOWN else f"{pattern[: _SHOWN - 1]}…")


def search(pattern: re.Pattern[str] | str, text: str, *, seconds: float = SECONDS) -> bool:
    """Whether ``pattern`` occurs in ``text``.

    Python's ``re`` has no limit of its own, so the search is done by ``regex``, which reads the
    same expressions and stops in time, in every thread. Raises ``PatternTooSlow``.
    """
    source, flags = (pattern, 0) if isinstance(pattern, str) else (pattern.pattern, pattern.flags)
    bounded = _bounded(source, flags)
    if bounded is None:
        raise PatternTooSlow(source)
    try:
        return bounded.search(text, timeout=seconds) is not None
    except TimeoutError:
        raise PatternTooSlow(source) from None


@lru_cache(maxsize=4_096)
def _bounded(pattern: str, flags: int) -> Any:
    """The same expression for ``regex``; None when it cannot read it, or it is too large."""
    if len(pattern) > _LONGEST:
        return None
    kept = flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII)
    try:
        return compile_regex(pattern, kept | regex.VERSION0)
    except (regex.error, RecursionError, OverflowError, MemoryError):
        return None
