"""What a skill is like: whether it changes anything, and what its inputs look like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import regex

from dcf.schema import compile_regex
from dcf.skills import Manifest

_RISKS = ("low", "medium", "high")
_EXAMPLE = re.compile(r"\bas in ([^\s,;.()]+)")
_WORD = re.compile(r"[^\s,;:!?()\[\]{}\"'<>=]+")
_DIGITS = re.compile(r"\d+")
_SEARCH_S = 0.05
_WORDS_READ = 2_000
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Shape:
    """What the input ``name`` looks like: one of ``patterns`` fits all of it."""

    name: str
    patterns: tuple[Any, ...]

    def fits(self, word: str) -> bool:
        return any(_fits(pattern, word) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Traits:
    """``is_repeatable``: the authors of all its tools say that a repeated call does nothing more;
    ``repeatable`` are those tools of which that is said, as ``server:tool``."""

    risk: str
    is_repeatable: bool
    repeatable: frozenset[str]
    shapes: tuple[Shape, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> Traits:
        tools = manifest.tools
        return cls(
            risk=manifest.permissions.risk_level,
            is_repeatable=all(tool.idempotent for tool in tools),
            repeatable=frozenset(
                f"{tool.server_id}:{tool.tool_name}" for tool in tools if tool.idempotent
            ),
            shapes=tuple(_shapes(tool.input_schema for tool in tools if tool.required)),
        )

    @property
    def is_harmless(self) -> bool:
        """Whether it may be used for a mere question."""
        return self.risk == _RISKS[0] and self.is_repeatable

    def __str__(self) -> str:
        return f"risk {self.risk}" if self.is_repeatable else f"risk {self.risk}, changes something"


def rank(traits: Traits | None) -> tuple[int, bool]:
    """How much may go wrong with a skill; most with one of which nothing is known."""
    if traits is None:
        return len(_RISKS), True
    return _RISKS.index(traits.risk), not traits.is_repeatable


def is_harmless(traits: Traits | None) -> bool:
    return traits is not None and traits.is_harmless


def found_in(text: str, shapes: Sequence[Shape]) -> dict[str, list[str]]:
    """What stands in ``text`` for the inputs, each value once, in their order."""
    words = (word.strip(".-*_`") for word in _WORD.findall(text)[:_WORDS_READ])
    # A word without a digit is prose, whatever a pattern says.
    values = list(dict.fromkeys(one for one in words if len(one) <= _LONGEST and _has_digit(one)))
    found = {shape.name: [one for one in values if shape.fits(one)] for shape in shapes}
    return {name: there for name, there in found.items() if there}


def without_names(text: str) -> str:
    """The text without what is a name of something (``ORD-1004``): no skill is called so."""
    kept = _WORD.sub(lambda match: "" if _is_name(match[0]) else match[0], text)
    return " ".join(kept.split()) or text


def _is_name(word: str) -> bool:
    return "-" in word and _has_digit(word) and any(char.isalpha() for char in word)


def _has_digit(word: str) -> bool:
    return _DIGITS.search(word) is not None


def _shapes(schemas: Iterable[Mapping[str, Any]]) -> Iterator[Shape]:
    """Of the required texts, those of which a pattern or an example says how they look."""
    seen: set[str] = set()
    for schema in schemas:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            about = properties.get(name)
            if not isinstance(about, dict) or about.get("type") != "string" or name in seen:
                continue
            patterns = tuple(_patterns(about))
            if patterns:
                seen.add(name)
                yield Shape(name, patterns)


def _patterns(about: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(about.get("pattern"), str):
        # As JSON Schema means it: found anywhere, unless it is anchored.
        with suppress(regex.error):
            yield compile_regex(about["pattern"], regex.VERSION0)
        return
    said = [*about.get("examples", ()), *_EXAMPLE.findall(about.get("description", ""))]
    for example in said:
        if isinstance(example, str) and _has_digit(example) and not example.isdigit():
            yield compile_regex(_like(example), regex.IGNORECASE | regex.VERSION0)


def _like(example: str) -> str:
    """A pattern of what looks like the example: other numbers in the same places."""
    return f"^(?:{_DIGITS.sub('[0-9]+', regex.escape(example, special_only=True))})$"


def _fits(pattern: Any, word: str) -> bool:
    try:
        return pattern.search(word, timeout=_SEARCH_S) is not None
    except TimeoutError:
        # What cannot be said in time is not taken for it: the user says it with its name.
        return False
