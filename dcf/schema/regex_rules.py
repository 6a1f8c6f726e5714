"""Regular expressions as authors may write them: none that calls itself, none that is huge."""

from __future__ import annotations

import re

import regex

LARGEST_PATTERN = 20_000
"""Most parts of a pattern with its repeats written out: ``(ab{3}){2}`` has eight."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CALL = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
_PART = re.compile(
    r"""(?P<repeat>\{\s*(?P<least>\d+)\s*(?:,[\s\d]*)?\})
    |(?P<kept>\s|\(\?\#[^)]*\)|[?*+])
    |(?P<opens>\()
    |(?P<closes>\))
    |(?P<one>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)""",
    re.DOTALL | re.VERBOSE,
)


def compile_regex(pattern: str, flags: int) -> regex.Pattern[str]:
    """``pattern`` compiled; raises ``regex.error`` for a bad one.

    ``(?R)``, ``(?1)`` and ``(?&name)`` match the pattern inside itself and take memory without
    end. Neither Java, which Step Functions runs on, nor JavaScript has them. Repeats are written
    out when a pattern is compiled, those in repeats many times.
    """
    if _CALL.search(_ESCAPED.sub("", pattern)):
        raise regex.error("a pattern cannot call itself or a group of itself")
    if _is_large(pattern):
        raise regex.error(
            f"a pattern has at most {LARGEST_PATTERN} parts when its repeats are written out"
        )
    return regex.compile(pattern, flags)


def _is_large(pattern: str) -> bool:
    """Whether the pattern, each repeat as often as it must match, has too many parts."""
    outer: list[int] = []
    size = last = 0  # of the group so far, and of what the next repeat applies to
    for part in _PART.finditer(pattern):
        if part.lastgroup == "kept":
            continue
        if part["repeat"] is not None:
            # Text that is no repeat, such as a first ``{3}``, counts as one too.
            times = int(part["least"][:9]) or 1
            size, last = size + last * (times - 1), last * times
        elif part["opens"] is not None:
            outer.append(size)
            size = last = 0
        elif part["closes"] is not None:
            last = size + 1
            size = last + (outer.pop() if outer else 0)
        else:
            size, last = size + 1, 1
        if size > LARGEST_PATTERN:
            return True
    return False
