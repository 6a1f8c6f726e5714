"""Which case of a tool answers a call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dcf.schema import search
from dcf.tools.stub.equality import same
from dcf.tools.stub.expected import text_forms

Strategy = Literal["exact", "regex", "contains", "jsonpath", "always"]
STRATEGIES: tuple[Strategy, ...] = ("exact", "regex", "contains", "jsonpath", "always")


class Query(Protocol):
    """Picks values: an ``ArgumentPath`` or any JSONPath."""

    def findall(self, _arguments: Any, /) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Match:
    """The condition of a case, its expressions compiled.

    ``query`` picks values out of the arguments (``None``: the arguments as a whole). The condition
    holds when it holds for any picked value; a path that picks nothing never matches. With
    ``as_text``, of cases of the earlier generator whose argument has no declared type, a value that
    is no text is also compared as text: ``"5"`` means 5 too, and ``"true"`` or ``"True"`` true.
    """

    strategy: Strategy
    query: Query | None = None
    value: Any = None
    pattern: re.Pattern[str] | None = None
    as_text: bool = False

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
            return any(search(self.pattern, text) for text in texts(actual))
        if self.strategy == "contains":
            return _contains(actual, self.value)
        if self.as_text and self.value in text_forms(actual):
            return True
        return same(actual, self.value)


def texts(value: Any) -> tuple[str, ...]:
    """Text as it is; anything else as JSON with sorted keys, once compact and once with blanks
    after ``:`` and ``,``, so that a pattern may be written for either."""
    if isinstance(value, str):
        return (value,)
    compact = json_text(value)
    if not isinstance(value, list | Mapping):
        return (compact,)
    return compact, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _contains(actual: Any, expected: Any) -> bool:
    """Whether ``expected`` is in ``actual``.

    A text is looked for in text, in the items of a list, and in the JSON of anything else. What is
    no text is looked for among the items of a list, and in the JSON of an object.
    """
    if isinstance(actual, list):
        return any(
            same(item, expected) or (isinstance(expected, str) and _contains(item, expected))
            for item in actual
        )
    if isinstance(expected, str):
        return any(expected in text for text in texts(actual))
    return isinstance(actual, Mapping) and json_text(expected) in json_text(actual)


def json_text(value: Any) -> str:
    """JSON as it is written here: keys sorted, compact, not escaped to ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
