"""What is to be forgotten: a text, and whether others name it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.memory.forgetting.errors import SubjectTooShort

_LEAST = 3
_FIRST, _LAST = r"(?<![^\W_])", r"(?![^\W_])"
_JSON = ("{", "[")
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Subject:
    """A text ``text`` that others name where they say its words one after the other, in capitals or
    not, with any blanks between them. What stands before and behind is no letter and no digit:
    ``Ann`` is not named by ``Annual``, but by ``ann_m`` and ``/home/ann``."""

    text: str
    _pattern: re.Pattern[str]
    _parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Subject:
        """Raises SubjectTooShort."""
        found = sum(map(str.isalnum, text))
        if found < _LEAST:
            raise SubjectTooShort(found=found, least=_LEAST)
        # A letter with a mark may be one character or two, in what is looked through as well.
        forms = dict.fromkeys(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
        either = "|".join(r"\s+".join(map(re.escape, form.split())) for form in forms)
        pattern = re.compile(f"{_FIRST}(?:{either}){_LAST}", re.I)
        parts = (max(_PART.findall(_folded(form)), key=len) for form in forms)
        return cls(" ".join(text.split()), pattern, tuple(parts))

    def digest(self, salt: str) -> str:
        """64 hex digits that stand for it in the receipt ``salt``."""
        plain = unicodedata.normalize("NFC", self.text).casefold()
        return hashlib.sha256(f"{salt}\n{plain}".encode()).hexdigest()

    def is_named_in(self, value: object) -> bool:
        """Whether a text, or data of JSON, or a text that is JSON, names it."""
        if isinstance(value, str):
            if not self.may_be_named_in(value):
                return False
            data = data_in(value)
            if data is None:
                return self._pattern.search(value) is not None
            if isinstance(data, list):
                # The keys of what is in a list are names of ours, as of the parts of a message.
                parts = (one.values() if isinstance(one, Mapping) else [one] for one in data)
                return any(self._within(leaf) for part in parts for leaf in part)
            return self._within(data)
        return self._within(value)

    def may_be_named_in(self, text: str) -> bool:
        """Whether it is worth a look: texts without a part of it, of which most have none, take no
        time. Letters that JSON escapes may be any."""
        folded = _folded(text)
        return any(part in folded for part in self._parts) or "\\u" in text

    def without_lines(self, text: str) -> str:
        """``text`` without the lines that name it."""
        kept, at = [], 0
        for found in self._pattern.finditer(text):
            start = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.end())
            kept.append(text[at : max(at, start)])
            at = max(at, len(text) if end < 0 else end + 1)
        kept.append(text[at:])
        return "".join(kept)

    def _within(self, data: object) -> bool:
        if isinstance(data, str):
            # What a tool was called with may be JSON again.
            return self.is_named_in(data)
        if isinstance(data, Mapping):
            return any(self._within(key) or self._within(one) for key, one in data.items())
        return isinstance(data, list | tuple) and any(map(self._within, data))


def _folded(text: str) -> str:
    # A regular expression that ignores case takes these two for one, folding does not.
    return text.casefold().replace("\u0131", "i")


def data_in(text: str) -> Any:
    """The array or object that ``text`` is as JSON; None if it is none."""
    if not text.startswith(_JSON):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
