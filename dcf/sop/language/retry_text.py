"""Retries in words: ``up to 3 times, waiting 30 seconds, doubling, at most 10 minutes``."""

from __future__ import annotations

import re

from dcf.sop.conduct import Retry
from dcf.sop.language.direction_text import print_error
from dcf.sop.language.duration import print_duration, read_duration
from dcf.sop.language.phrase import ERROR_NAME, Unreadable, bare, count_of, split_list

MOST_TIMES = 1_000
MOST_FACTOR = 100.0
_START = re.compile(
    r"(?:on (?P<errors>.+?) )?(?:up to |at most )?(?P<times>[0-9]+|[a-z]+)"
    r"(?: (?:more|further)(?: times?| tries| try| attempts?)?| times?"
    r"|(?P<tries> tries| attempts?))?\s*(?:,\s*|\s+(?=waiting|with|after|doubling)|$)",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"(?:waiting|with a pause of|with pauses of|after|every) (?P<time>.+?)"
    r"(?: between(?: tries| them)?| before each(?: try)?| each time| first)?",
    re.IGNORECASE,
)
_DOUBLING = re.compile(
    r"(?:and )?(?:then )?doubling(?: each time| it| the wait| the pause)?", re.IGNORECASE
)
_GROWING = re.compile(
    r"(?:and )?(?:times|growing by|multiplied by) (?P<factor>[0-9.]+)(?: each time)?",
    re.IGNORECASE,
)
_LONGEST = re.compile(r"(?:but )?(?:at most|no longer than|up to) (?P<time>.+)", re.IGNORECASE)
_HINT = (
    "write `up to 3 times, waiting 30 seconds, doubling, at most 10 minutes`, "
    "all but the number as needed; `on SomeError` before it for certain errors"
)


def read_retry(text: str) -> Retry:
    """The retry in ``text``, without the word retry before it. Raises ``Unreadable``.

    ``doubling`` is the factor 2, ``growing by 1.5`` another. Without ``waiting`` the first pause
    is one second.
    """
    text = text.strip().rstrip(".")
    found = _START.match(text)
    times = count_of(found["times"].lower()) if found else None
    if found and found["tries"]:
        hint = f"the first try does not count: write `up to {found['times']} times`, or one less"
        raise Unreadable("SOP_RETRY", f"the retry {text!r} may count the first try or not", hint)
    if found is None or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise Unreadable("SOP_RETRY", f"the retry {text!r} does not say how often", _HINT)
    wait, factor, longest = 1, 1.0, None
    for part in filter(None, (one.strip() for one in text[found.end() :].split(","))):
        if match := _WAITING.fullmatch(part):
            wait = read_duration(match["time"])
        elif _DOUBLING.fullmatch(part):
            factor = 2.0
        elif match := _GROWING.fullmatch(part):
            factor = _factor(text, match["factor"])
        elif match := _LONGEST.fullmatch(part):
            longest = read_duration(match["time"])
        else:
            raise Unreadable("SOP_RETRY", f"the retry {text!r}: {part!r} is not understood", _HINT)
    if longest is not None and longest < wait:
        hint = "let the longest pause be at least as long as the first"
        raise Unreadable(
            "SOP_RETRY", f"the retry {text!r} waits longer than its longest pause", hint
        )
    return Retry(times, wait, factor, longest, read_errors(found["errors"] or ""))


def _factor(text: str, written: str) -> float:
    try:
        factor = float(written)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= MOST_FACTOR:
        raise Unreadable("SOP_RETRY", f"the retry {text!r} grows by {written}", "write 1 to 100")
    return factor


def read_errors(text: str) -> tuple[str, ...]:
    """Names of errors, separated by commas, ``or``, ``and``. Raises ``Unreadable``."""
    names = tuple(bare(name) for name in split_list(text))
    for name in names:
        if not re.fullmatch(ERROR_NAME, name):
            hint = "letters, digits and dots, as in CardDeclined or DCF.ToolTimeout"
            raise Unreadable("SOP_ERROR_NAME", f"{name!r} is no name of an error", hint)
    return names


def print_retry(retry: Retry) -> str:
    """As ``read_retry`` reads it."""
    errors = f"on {', '.join(map(print_error, retry.errors))} " if retry.errors else ""
    parts = [f"{errors}up to {retry.times} time{'' if retry.times == 1 else 's'}"]
    parts.append(f"waiting {print_duration(retry.wait)}")
    if retry.factor == 2:
        parts.append("doubling")
    elif retry.factor != 1:
        parts.append(f"growing by {retry.factor}")
    if retry.longest is not None:
        parts.append(f"at most {print_duration(retry.longest)}")
    return ", ".join(parts)
