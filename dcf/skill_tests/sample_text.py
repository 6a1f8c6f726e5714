"""Texts that match a regular expression."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import chain
from random import Random
from typing import Any

from rstr.xeger import Xeger

from dcf.schema import PatternTooSlow, search

_READABLE = string.ascii_letters + string.digits
_PRINTABLE = _READABLE + string.punctuation + " "
_MORE_REPEATS = 2
_MOST_REPEATS = 20_000
_TRIES = 40


def sample_texts(pattern: str, rng: Random) -> Iterator[str]:
    """Some texts in which ``pattern`` is found, short and readable ones, none twice.

    Nothing where the expression can only be met by chance (look-behind and the like).
    """
    made: set[str] = set()
    for _ in range(_TRIES):
        try:
            search(pattern, "")  # an expression that is too large is not to be written out
            text = _Sampler(rng).xeger(pattern)
            if text in made or not search(pattern, text):
                continue
        except (KeyError, TypeError, ValueError, IndexError, RecursionError, OverflowError):
            return  # a construct that the sampler does not know
        except (re.error, PatternTooSlow):
            return
        made.add(text)
        yield text


class _Sampler(Xeger):
    """rstr's, which takes any printable character up to a hundred times and the order of a set,
    made readable, short and the same in every process."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._repeats = 0
        self._cases = {
            **self._cases,
            "any": lambda _: rng.choice(_READABLE),
            "not_literal": lambda code: rng.choice(_PRINTABLE.replace(chr(code), "")),
            "possessive_repeat": lambda repeat: self._handle_repeat(*repeat),
            "atomic_group": lambda group: "".join(self._handle_state(part) for part in group),
        }

    def _handle_in(self, value: Any) -> Any:
        choices = list(chain(*(self._handle_state(part) for part in value)))
        if choices[0] is False:
            choices = [character for character in _PRINTABLE if character not in choices[1:]]
        readable = [character for character in choices if character in _READABLE]
        return self._random.choice(readable or choices)

    def _handle_repeat(self, start_range: int, end_range: int, value: Any) -> str:
        most = min(int(end_range), start_range + _MORE_REPEATS)
        times = self._random.randint(start_range, most)
        self._repeats += times
        if self._repeats > _MOST_REPEATS:
            raise ValueError("repeats inside repeats without end")
        return "".join("".join(self._handle_state(part) for part in value) for _ in range(times))
