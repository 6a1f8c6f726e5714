"""What is to be forgotten: a text, and whether others name it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from dcf.memory.forgetting.errors import SubjectTooShort
from dcf.memory.forgetting.readings import IGNORED, OURS, WORDS, folded, readings

_LEAST = 3
_FIRST, _LAST = r"(?<![^\W_])", r"(?![^\W_])"
_JSON = ("{", "[")
_PART = re.compile(r"[^\W_]+")
_WITH_END = re.compile(r"[^\n]*\n|[^\n]+")
_UNSEEN = re.compile(f"[{IGNORED}]")
_BETWEEN_CELLS = "|,;\t"
_ROW, _CELL, _TAG = (re.compile(f"<{tag}[^<>]*>") for tag in (r"/?tr\b", r"/?t[dh]\b", ""))
"""Between rows and cells of HTML, and what stands in these beside text."""
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Subject:
    """A text ``text`` that others name where they say its words one after the other, in capitals or
    not, with any blanks between them, as they are written or with the escapes of JSON. What stands
    before and behind is no letter and no digit: ``Ann`` is not named by ``Annual``, but by
    ``ann_m`` and ``/home/ann``. A row of a table names it, too, where cells that say nothing else
    say all of its words, in any order: ``4711;Miller;Ann``. One that is ``loose`` is also named
    where cells of a row say its words among others: ``4711;Miller;Dr. Ann``."""

    text: str
    _pattern: re.Pattern[str]
    _part: str
    _words: frozenset[str]
    loose: bool = False

    @classmethod
    def of(cls, text: str) -> Subject:
        """Raises SubjectTooShort."""
        found = sum(map(str.isalnum, text))
        if found < _LEAST:
            raise SubjectTooShort(found=found, least=_LEAST)
        plain = folded(_UNSEEN.sub("", text))
        said = rf"[\s{IGNORED}]+".join(map(_spelled, plain.split()))
        pattern = re.compile(f"{_FIRST}{said}{_LAST}")
        part = max(_PART.findall(plain), key=len)
        return cls(" ".join(text.split()), pattern, part, _words(plain))

    def loosely(self) -> Subject:
        """The same subject, ``loose``: to look for what may name it, not to let that go."""
        return replace(self, loose=True)

    def digest(self, salt: str) -> str:
        """64 hex digits that stand for it in the receipt ``salt``."""
        plain = unicodedata.normalize("NFC", self.text).casefold()
        return hashlib.sha256(f"{salt}\n{plain}".encode()).hexdigest()

    def is_named_in(self, value: object) -> bool:
        """Whether a text, or a text or a key in data of JSON, names it."""
        # Data of others is as deep as they like: no recursion.
        left = [value]
        while left:
            one = left.pop()
            if isinstance(one, str):
                if self._is_said_in(one):
                    return True
            elif isinstance(one, Mapping):
                left += [*one.keys(), *one.values()]
            elif isinstance(one, list | tuple):
                left += one
        return False

    def may_be_named_in(self, text: str) -> bool:
        """Whether it is worth a look: texts without a part of it, of which most have none, take no
        time. Letters that JSON escapes may be any."""
        if self._part in folded(text) or "\\u" in text:
            return True
        return not text.isascii() and self._part in folded(_UNSEEN.sub("", text))

    def without_lines(self, text: str) -> str:
        """``text`` without the lines that name it as they are written."""
        lines = _WITH_END.findall(text)
        plain = [*map(folded, lines)]
        starts = [0, *accumulate(map(len, plain))]
        gone = set[int]()
        for found in self._pattern.finditer("".join(plain)):
            first, last = (bisect_right(starts, at) for at in (found.start(), found.end() - 1))
            gone.update(range(first - 1, last))
        return "".join(line for number, line in enumerate(lines) if number not in gone)

    def _is_said_in(self, text: str) -> bool:
        if not self.may_be_named_in(text):
            return False
        plain = [*map(folded, readings(text))]
        if not any(map(self._pattern.search, plain)):
            return any(map(self._is_said_in_rows, plain))
        data = data_in(text) if any(map(self._pattern.search, WORDS)) else None
        if data is None:
            return True
        # It is said by the form of JSON at least. Whether somebody said it, too, its parts tell.
        if isinstance(data, list):
            data = [[*_keys(one), *one.values()] if isinstance(one, dict) else one for one in data]
        return self.is_named_in(data)

    def _is_said_in_rows(self, text: str) -> bool:
        if len(self._words) < 2:
            return False
        text = _UNSEEN.sub("", text)
        if not all(word in text for word in self._words):
            return False
        return any(self._is_said_by(row) for row in _rows_in(text) if len(row) > 1)

    def _is_said_by(self, cells: Sequence[str]) -> bool:
        said = map(_words, cells)
        if self.loose:
            return self._words <= frozenset().union(*said)
        return self._words == frozenset().union(*(some for some in said if some <= self._words))


def _rows_in(text: str) -> Iterator[list[str]]:
    """The cells of each row of tables in text, or in HTML."""
    for line in text.split("\n"):
        for sign in _BETWEEN_CELLS:
            yield line.split(sign)
    if "<t" in text:
        for row in _ROW.split(text):
            yield [_TAG.sub(" ", cell) for cell in _CELL.split(row)]


def _words(text: str) -> frozenset[str]:
    """Without the signs around each."""
    return frozenset(_AROUND.sub("", word) for word in text.split()) - {""}


def _spelled(word: str) -> str:
    return f"[{IGNORED}]*".join(map(re.escape, word))


def _keys(part: Mapping[str, Any]) -> list[str]:
    return [key for key in part if key not in OURS]


def data_in(text: str) -> Any:
    """The array or object that ``text`` is as JSON; None if it is none."""
    if not text.startswith(_JSON):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
