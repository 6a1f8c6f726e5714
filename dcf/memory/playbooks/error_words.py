"""What tells an error from others: its words, without what is different each time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dcf.search import STOP_WORDS, spoken, words

_LONGEST = 50_000
"""Characters that are looked at: of a longer text the last, where logs have what went wrong."""

# Each repeat is bounded, so that the time grows with the length of the text and not faster.
_MASKED = re.compile(
    "|".join(
        (
            r"\[redacted: [^\]\n]{0,80}\]|\[forgotten\]",
            r"\b[a-z][a-z0-9+.-]{0,20}://[^\s\"'<>)\]]+",
            r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
            r"\b(?:0x[0-9a-f]+|[0-9a-f]{8,})\b",
            # A path from the root, the home or here; and a relative one that names a file.
            r"(?<![\w/\\])(?:~|\.{1,2}|[a-z]:)?[\\/](?:[\w.@+~-]+[\\/])*[\w.@+~-]*",
            r"(?<![\w./\\@+~-])(?:[\w.@+~-]{1,100}[\\/]){1,40}[\w@+~-]{1,100}\.[a-z]\w{0,4}\b",
        )
    ),
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"\b(?:https?(?:/\d(?:\.\d)?)?|status|code|errno|sqlstate|signal)\W{0,3}(?:code\W{0,3})?"
    r"(\d{1,5})\b",
    re.IGNORECASE,
)
_NAMED_CODE = re.compile(r"\b[A-Z]{1,4}\d{3,5}\b")
_NUMBER = re.compile(r"\b\d{1,5}\b")
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(r"([^\W\d_]{2,})\d{1,3}")
_HEX = re.compile(r"[0-9a-f]{6,}", re.IGNORECASE)
_SAID_BY_ALL = """
    call caught caused error errors exception exceptions exited fail failed failing fails failure
    fatal file last line recent stack stacktrace throw thrown trace traceback uncaught unhandled
    warning
"""
_SAY_NOTHING = STOP_WORDS.union(_SAID_BY_ALL.split())
"""Words that texts, or errors, have whatever they are about."""


@dataclass(frozen=True)
class ErrorWords:
    """``words`` are those of an error in their order, in small letters and with identifiers split.
    ``codes`` are what it is called by numbers: a status, an errno, ``TS2339``. ``numbers`` are all
    that could be such."""

    words: tuple[str, ...]
    codes: frozenset[str]
    numbers: frozenset[str]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Where each word stands, from 0 on: put together once, for all patterns."""
        found: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            found.setdefault(word, []).append(place)
        return found


def error_words(text: str) -> ErrorWords:
    """The words of an error. Numbers that are no codes, ids, hexadecimal digits, addresses, paths
    and marks of secrets are left out; so are words that say nothing, and those of every error.

    >>> error_words("TypeError: parser.on is not a function (/app/src/parser.js:12)").words
    ('type', 'parser', 'function')
    >>> sorted(error_words("order 4711: HTTP 503 from payments").codes)
    ['503']
    """
    plain = _MASKED.sub(" ", text[-_LONGEST:])
    named = frozenset(_NAMED_CODE.findall(plain))
    kept = (_without_number(word) for word in words(plain))
    parts = words(spoken(" ".join(filter(None, kept))))
    telling = (part.casefold() for part in parts if len(part) > 1 or not part.isascii())
    return ErrorWords(
        tuple(word for word in telling if word not in _SAY_NOTHING),
        named | frozenset(_STATUS.findall(plain)),
        named | frozenset(_NUMBER.findall(plain)),
    )


@lru_cache(4_096)
def pattern_words(pattern: str) -> ErrorWords:
    """The same of a pattern, which is compared again and again."""
    return error_words(pattern)


def _without_number(word: str) -> str:
    """``worker12`` is a ``worker``; any other word with a digit is an id, and empty."""
    if _DIGIT.search(word) is None:
        return word
    numbered = _NUMBERED.fullmatch(word)
    return "" if numbered is None or _HEX.fullmatch(word) else numbered[1]
