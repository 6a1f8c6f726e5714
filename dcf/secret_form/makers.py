"""Credentials that are known by their look: makers begin theirs with letters of their own.

No credential is shorter than a ``run`` of signs without a blank, a quote or a bracket, and most
texts have few of those: they are found first, and only they are read with the expressions of
formats.py, all as one, once at the beginning of each word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from dcf.secret_form.formats import FORMATS, UUID, WORD
from dcf.secret_form.found import Found
from dcf.secret_form.runs import Runs

_SHORTEST_TORN = 7
_LONGEST_TORN = 500
"""What is left of one and is longer looks as if it were whole."""
# Nothing of the word is left over, where another one would seem to begin.
_REST = re.compile(r"[A-Za-z0-9]*+")
_DIGIT = re.compile("[0-9]")
# A pair as AWS hands it out in a CSV file: the second half has no look of its own.
_SECOND_HALF = re.compile(r"[\s,:;|]{1,8}[A-Za-z0-9/+]{40}(?![\w/+=])")
# Cut texts end within what they tell: what is left of a credential there is shorter.
_CUT = ("...", "…")
# Those of before had no look, but for the name that is given to them.
_HEROKU = re.compile(rf"(?i:heroku)[\w .-]{{0,20}}\\?[\"']?\s?[:=]\s?\\?[\"']?(?P<secret>{UUID})")


def _at_a_word(looks: Iterable[str]) -> re.Pattern[str]:
    """Where one of ``looks`` is found at the beginning of a word, which may be behind a line break
    of JSON, a colour, or %3D of an address. Every other word is passed over at once."""
    look = _any_of(looks)
    between = rf"\\[nrt]|%[0-9A-Fa-f]{{2}}|\d{{1,3}}m|{WORD}++|[^A-Za-z0-9\\%]++|[\\%]"
    return re.compile(rf"(?>(?:(?!{look})(?:{between}))*)(?={look})")


def _any_of(looks: Iterable[str]) -> str:
    """All that begin with the same letter stand together: for most words one letter decides."""
    by_letter: dict[str, list[str]] = {}
    for look in looks:
        letter = look[0] if look[0].isalpha() and look[1] not in "?*+{" else ""
        by_letter.setdefault(letter, []).append(look[len(letter) :])
    return "(?:" + "|".join(f"{one}(?:{'|'.join(rest)})" for one, rest in by_letter.items()) + ")"


# Compiled when the first text needs them: that takes longer than most commands that need none.
@cache
def _whole() -> re.Pattern[str]:
    return _at_a_word(one.look for one in FORMATS)


@cache
def _torn_look() -> re.Pattern[str]:
    return _at_a_word(rf"{one.torn}\Z" for one in FORMATS if one.torn)


def made_by_makers(text: str, runs: Runs) -> Iterator[Found]:
    """The keys and tokens of known makers in ``text``, whose ``runs`` these are."""
    for start, end in runs.spans:
        # Paths and names that are joined: no credential is made of small letters alone.
        if _DIGIT.search(text, start, end) or not text[start:end].islower():
            yield from _in_run(text, start, end)
    yield from _torn(text, runs.kinds)
    if any(one in text for one in ("heroku", "Heroku", "HEROKU")):
        for hit in _HEROKU.finditer(text):
            yield Found("heroku key", *hit.span("secret"))


def _in_run(text: str, start: int, end: int) -> Iterator[Found]:
    while hit := _whole().match(text, start, end):
        found = _found(text, hit.end(), end)
        rest = _REST.match(text, found.end, end)
        start = rest.end() if rest else found.end
        pair = _SECOND_HALF.match(text, start) if found.kind == "aws key" else None
        yield replace(found, end=pair.end() if pair else start)


def _torn(text: str, kinds: bytes) -> Iterator[Found]:
    """What is left of a credential at the end of a text that was cut."""
    end = len(text.rstrip())
    for mark in _CUT:
        end -= len(mark) if text.endswith(mark, 0, end) else 0
    start = max(kinds.rfind(b" ", 0, end) + 1, end - _LONGEST_TORN)
    if end - start >= _SHORTEST_TORN and (hit := _torn_look().match(text, start, end)):
        yield _found(text, hit.end(), end, torn=True)


def _found(text: str, start: int, end: int, *, torn: bool = False) -> Found:
    """The first of the formats that is there: the more telling ones come first."""
    for form in FORMATS:
        look = rf"{form.torn}\Z" if torn else form.look
        hit = re.compile(look).match(text, start, end) if form.torn or not torn else None
        if hit:
            return Found(form.kind, *hit.span())
    raise AssertionError("one of them was found here")
