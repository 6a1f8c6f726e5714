"""Regular expressions as authors may write them: none that calls itself."""

from __future__ import annotations

import re

import regex

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CALL = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")


def compile_regex(pattern: str, flags: int) -> regex.Pattern[str]:
    """``pattern`` compiled; raises ``regex.error`` for a bad one.

    ``(?R)``, ``(?1)`` and ``(?&name)`` match the pattern inside itself and take memory without
    end. Neither Java, which Step Functions runs on, nor JavaScript has them.
    """
    if _CALL.search(_ESCAPED.sub("", pattern)):
        raise regex.error("a pattern cannot call itself or a group of itself")
    return regex.compile(pattern, flags)
