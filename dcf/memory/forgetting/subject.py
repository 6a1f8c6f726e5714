"""What is to be forgotten: a text, and whether others name it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Subject:
    """A text ``text`` that others name where they say its words one after the other, in capitals or
    not, with any blanks between them, as they are written or with the escapes of JSON. What stands
    before and behind is no letter and no digit: ``Ann`` is not named by ``Annual``, but by
    ``ann_m`` and ``/home/ann``."""

    text: str
    _pattern: re.Pattern[str]
    _part: str

    @classmethod
    def of(cls, text: str) -> Subject:
        """Raises SubjectTooShort."""
        found = sum(map(str.isalnum, text))
        if found < _LEAST:
            raise SubjectTooShort(found=found, least=_LEAST)
        plain = folded(_UNSEEN.sub("", text))
        said = rf"[\s{IGNORED}]+".join(map(_spelled, plain.split()))
        pattern = re.compile(f"{_FIRST}{said}{_LAST}")
        return cls(" ".join(text.split()), pattern, max(_PART.findall(plain), key=len))

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
        if not any(self._pattern.search(folded(one)) for one in readings(text)):
            return False
        data = data_in(text) if any(map(self._pattern.search, WORDS)) else None
        if data is None:
            return True
        # It is said by the form of JSON at least. Whether somebody said it, too, its parts tell.
        if isinstance(data, list):
            data = [[*_keys(one), *one.values()] if isinstance(one, dict) else one for one in data]
        return self.is_named_in(data)


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
