"""Which case of a tool answers a call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jsonpath import JSONPath

from dcf.tools.stub.equality import same
from dcf.tools.stub.pattern import search

Strategy = Literal["exact", "regex", "contains", "jsonpath", "always"]
STRATEGIES: tuple[Strategy, ...] = ("exact", "regex", "contains", "jsonpath", "always")


@dataclass(frozen=True, slots=True)
class Match:
    """The condition of a case, its expressions compiled.

    ``query`` picks values out of the arguments (``None``: the arguments as a whole). The condition
    holds when it holds for any picked value; a path that picks nothing never matches.
    """

    strategy: Strategy
    query: JSONPath | None = None
    value: Any = None
    pattern: re.Pattern[str] | None = None

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments is meant. Raises ``PatternTooSlow``."""
        if self.strategy == "always":
            return True
        return any(self._accepts(value) for value in self._picked(arguments))

    def _picked(self, arguments: Mapping[str, Any]) -> Iterable[Any]:
        return [arguments] if self.query is None else self.query.findall(arguments)

    def _accepts(self, actual: Any) -> bool:
        if self.strategy == "regex":
            assert self.pattern is not None, "a regex match is built with its pattern"
            return search(self.pattern, actual if isinstance(actual, str) else json_text(actual))
        if self.strategy == "contains":
            return _contains(actual, self.value)
        return same(actual, self.value)


def _contains(actual: Any, expected: Any) -> bool:
    """Text contains text; a list contains an equal item, or text that contains the text.

    An object (such as the arguments as a whole) is searched as JSON text. Numbers, booleans and
    null contain nothing.
    """
    if isinstance(actual, str):
        return isinstance(expected, str) and expected in actual
    if isinstance(actual, list):
        return any(
            same(item, expected) or (isinstance(item, str) and _contains(item, expected))
            for item in actual
        )
    if isinstance(actual, Mapping):
        return (expected if isinstance(expected, str) else json_text(expected)) in json_text(actual)
    return False


def json_text(value: Any) -> str:
    """JSON as it is written here: keys sorted, compact, not escaped to ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
