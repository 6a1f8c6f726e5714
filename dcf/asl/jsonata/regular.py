"""Regular expressions of JSONata that cannot run longer than the evaluation may."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import regex

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import JException, Jsonata, RegexFlags
from dcf.schema import compile_regex

_NAMED_REFERENCE = re.compile(r"\\k<(\w+)>")


class BoundedPattern:
    """A pattern whose every search ends with the budget of the evaluation it serves.

    Has the four methods that the JSONata library asks of a compiled pattern.
    """

    __slots__ = ("_pattern",)

    def __init__(self, pattern: regex.Pattern[str]) -> None:
        self._pattern = pattern

    def search(self, string: str) -> Any:
        return self._bounded(partial(self._pattern.search, string))

    def finditer(self, string: str) -> Iterator[Any]:
        budget = _budget()
        position = 0
        while position <= len(string):
            start = position
            found = self._bounded(partial(self._pattern.search, string, start))
            if found is None:
                return
            budget.spend(1)
            yield _some(found)
            position = found.end()

    def sub(self, repl: Any, string: str, count: int = 0) -> str:
        budget = _budget()
        whole = self._counting(repl, budget)
        return str(self._bounded(partial(self._pattern.sub, whole, string, count)))

    def split(self, string: str, maxsplit: int = 0) -> list[str]:
        """The texts between matches; unlike ``re``, without those of the groups."""
        pieces: list[str] = []
        position = 0
        for found in self.finditer(string):
            pieces.append(string[position : found.start()])
            position = found.end()
            if len(pieces) == maxsplit:
                break
        return [*pieces, string[position:]]

    def _counting(self, repl: Any, budget: Budget) -> Callable[[Any], str]:
        """``repl`` as a function that pays for the text it makes."""

        def make(found: Any) -> str:
            text: str = repl(_some(found)) if callable(repl) else found.expand(repl)
            budget.grow(len(text))
            return text

        return make

    def _bounded(self, run: Callable[..., Any]) -> Any:
        budget = _budget()
        try:
            return run(timeout=budget.regex_seconds())
        except TimeoutError:
            raise budget.timed_out() from None


def _some(found: Any) -> Any:
    """A match, which must not be empty."""
    if found.end() == found.start():
        raise JException("D1004", -1)
    return found


def _budget() -> Budget:
    """The budget of the evaluation under way in this thread."""
    budget: Budget = Jsonata.CURRENT.jsonata.budget
    return budget


def bounded_engine(pattern: str, flags: RegexFlags) -> BoundedPattern:
    """Compile a regex literal; raises ``regex.error`` for a bad one."""
    options = regex.V0
    if flags.case_insensitive:
        options |= regex.IGNORECASE
    if flags.multiline:
        options |= regex.MULTILINE
    written = _translated(pattern, bool(flags.multiline))
    return BoundedPattern(compile_regex(written, options))


def _translated(pattern: str, multiline: bool) -> str:
    r"""A pattern of JavaScript for ``regex``.

    ``$`` becomes ``\Z``, because it does not match before a newline at the end, and ``\k<name>``
    becomes ``(?P=name)``.
    """
    pieces: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        character = pattern[position]
        named = _NAMED_REFERENCE.match(pattern, position)
        if named is not None:
            pieces.append(f"(?P={named.group(1)})")
            position = named.end()
            continue
        if character == "\\":
            pieces.append(pattern[position : position + 2])
            position += 2
            continue
        if character == "[":
            in_class = True
        elif character == "]":
            in_class = False
        is_end = character == "$" and not in_class and not multiline
        pieces.append(r"\Z" if is_end else character)
        position += 1
    return "".join(pieces)
