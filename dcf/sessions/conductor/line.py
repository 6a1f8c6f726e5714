"""The grammar of one task as people write it.

[urgent] for billing: Refund the order order_id=ORD-1004 @anna skill:refund after 1 within 5m
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import NoReturn

from control_plane import JSON

_PRIORITY = re.compile(r"\[(low|normal|high|urgent)\]", re.IGNORECASE)
# "For example: …" is prose.
_PROSE = r"(?!(?:example|instance|now|the|this|that|all|each|every|it|me|us|you|them|him|her)\b)"
_FOR = re.compile(rf"\s*for\s+{_PROSE}(@?[\w.-]+(?: [\w.-]+){{0,2}})\s*:\s+", re.IGNORECASE)
_AT = re.compile(r"(?<!\S)@([\w.-]*\w)")
_SKILL = re.compile(r"(?<!\S)skill:(?://)?(\S*[\w*])")
_WORKFLOW = re.compile(r"(?<!\S)workflow:(\"[^\"]+\"|\S*\w)")
_VALUE = r"(\"[^\"]*\"|'[^']*'|\{[^{}]*\}|\[[^\[\]]*\]|[^\s,;()]+)"
_INPUT = re.compile(rf"(?<![^\s(,])([A-Za-z_]\w*)={_VALUE}")
# A single word before a colon is prose ("Note: …"); a name of two parts is none.
_NAMED = re.compile(rf"(?<![^\s(,])([A-Za-z]+(?:_[A-Za-z0-9]+)+):\s*{_VALUE}")
_THEN = re.compile(r"\s*(?:and )?then\b[,:]?\s+", re.IGNORECASE)
_NUMBERS = r"#?\d{1,4}(?:\s*(?:,|and|&)\s*#?\d{1,4})*"
# What can be long is read from its beginning alone: texts are those of anybody.
_GAP = r"(?<![\s,;(\[])[\s,;(\[]+"
_AFTER = re.compile(rf"{_GAP}after\s+({_NUMBERS})\s*[)\].]?\s*$", re.IGNORECASE)
_WITHIN = re.compile(
    rf"{_GAP}within\s+(\d{{1,6}}(?:\.\d{{1,3}})?)\s*"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\s*[)\].]?\s*$",
    re.IGNORECASE,
)
_TAIL = 400
"""Characters at the end of a task that are looked at for its order and time."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_EMPTY = re.compile(r"[(\[{][,;\s]*[)\]}]")
_SPACE = re.compile(r"[ \t]{2,}")
_SPACE_BEFORE = re.compile(r"(?<!\s)\s+([.!?,;])")


@dataclass(frozen=True, slots=True)
class Wish:
    """A task as it was asked for. ``whom`` is a companion or a specialization (``is_name``: it was
    said with @); ``after`` are numbers or labels of others, ``follows`` says that it comes after
    the one before it. What nothing was said of is None."""

    text: str
    label: str | None = None
    inputs: dict[str, JSON] = field(default_factory=dict)
    whom: str | None = None
    is_name: bool = False
    priority: str | None = None
    after: tuple[int, ...] = ()
    follows: bool = False
    timeout_s: float | None = None
    skills: tuple[str, ...] = ()
    workflow: str | None = None


def read_line(text: str, label: str | None = None) -> Wish:
    """What one task asks for; what is no mark of this grammar is its text."""
    wish = Wish("", label)
    found: list[re.Match[str]] = []

    def take(pattern: re.Pattern[str], rest: str, most: int = 0) -> str:
        found[:] = list(pattern.finditer(rest))[: most or None]
        return pattern.sub(" ", rest, count=most)

    text = take(_THEN, text, 1) if _THEN.match(text) else text
    follows = bool(found)
    text = take(_PRIORITY, text)
    if found:
        wish = replace(wish, priority=found[0][1].lower())
    if (named := _FOR.match(text)) is not None:
        text = text[named.end() :]
        whom = named[1]
        wish = replace(wish, whom=whom.removeprefix("@"), is_name=whom.startswith("@"))
    text = take(_AT, text, 1)
    if found:
        wish = replace(wish, whom=found[0][1], is_name=True)
    text = take(_SKILL, text)
    wish = replace(wish, skills=tuple(match[1] for match in found))
    text = take(_WORKFLOW, text, 1)
    if found:
        wish = replace(wish, workflow=found[0][1].strip('"'))
    text = take(_INPUT, text)
    inputs = {match[1]: _value(match[2]) for match in found}
    text = take(_NAMED, text)
    inputs |= {match[1]: _value(match[2]) for match in found}
    text, after, timeout_s = _tail(text)
    if text.lower().startswith("then "):
        text, follows = text[5:], True
    return replace(
        wish,
        text=_tidy(text) or _instead(wish),
        inputs=inputs,
        after=after,
        follows=follows,
        timeout_s=timeout_s,
    )


def _tail(text: str) -> tuple[str, tuple[int, ...], float | None]:
    """Without what is said at its end of order and time: only there it is no prose."""
    after: tuple[int, ...] = ()
    timeout_s = None
    text = f".{text}"
    while True:
        near = max(0, len(text) - _TAIL)
        if (match := _AFTER.search(text, near)) is not None:
            after = (*(int(number) for number in re.findall(r"\d+", match[1])), *after)
        elif (match := _WITHIN.search(text, near)) is not None:
            timeout_s = float(match[1]) * _SECONDS[match[2][0].lower()]
        else:
            return text[1:].strip(), tuple(dict.fromkeys(after)), timeout_s
        text = text[: match.start()]


def _value(text: str) -> JSON:
    """A JSON value where it is one, else the text itself."""
    if text[0] in "\"'":
        return text[1:-1]
    try:
        value: JSON = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        # A full stop that ends the sentence is none of the value's.
        return text.rstrip(".") or text
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _tidy(text: str) -> str:
    text = _SPACE_BEFORE.sub(r"\1", _EMPTY.sub(" ", text))
    return _SPACE.sub(" ", text).strip(" \t\r\n,;")


def _instead(wish: Wish) -> str:
    """What a task is called that has marks alone."""
    if wish.workflow is not None:
        return f"Run the workflow {wish.workflow}"
    return f"Use {', '.join(wish.skills)}" if wish.skills else ""
