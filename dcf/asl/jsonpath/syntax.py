"""The text of a JSONPath taken apart into a root and its selectors."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonpath.filter import FilterError, parse_filter
from dcf.asl.jsonpath.functions import FUNCTIONS
from dcf.asl.jsonpath.selector import (
    Aggregate,
    Argument,
    Descendants,
    EachName,
    Filter,
    Indexes,
    Names,
    Selector,
    Slice,
    Token,
    Wildcard,
    names_one,
    select,
)
from dcf.asl.payload import bracket_depth, depth_exceeds, foreign_places

BAD_PATH = "ASL_BAD_PATH"
MAX_VARIABLE_NAME = 80
"""Longest name of a variable in characters (a Step Functions limit)."""

MAX_SELECTORS = 100
"""Most selectors of one path: data nests no deeper."""

MAX_NESTING = 50
"""Deepest nesting of round brackets: filters, and calls in arguments of calls."""

MAX_FILTERS = 50
"""Most filters of one path, those inside filters included."""

_VARIABLE = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"[^.\[\]()'\",*?\s]+")
_NAME_IN_FILTER = re.compile(r"[^.\[\]()'\",*?\s<>=!~&|]+")
_SPACES = re.compile(r"\s*")
_INDEX = re.compile(r"-?\d{1,9}")
# A step may be written, and means nothing.
_SLICE = re.compile(r"(?=-?\d|:-?\d)(-?\d{1,9})?:(-?\d{1,9})?(?::-?\d{0,9})?")
_SINGLE = r"'(?:[^'\\]|\\.)*'"
_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_TEXT = f"{_SINGLE}|{_DOUBLE}"
# All in the same quotes.
_QUOTED = re.compile(
    "|".join(rf"\s*{one}(?:\s*,\s*{one})*\s*" for one in (_SINGLE, _DOUBLE)), re.DOTALL
)


@dataclass(frozen=True, slots=True)
class PathSyntax:
    """``root`` is ``$``, ``$$``, ``$name`` or, in a filter, ``@``.

    ``tokens`` are the names and indexes that the path starts with; ``selectors`` come after them
    and are empty when the path is definite, that is, names exactly one place.
    """

    text: str
    root: str
    tokens: tuple[Token, ...]
    selectors: tuple[Selector, ...]

    @property
    def is_definite(self) -> bool:
        return not self.selectors

    @property
    def names_one(self) -> bool:
        """Whether the path gives one value, be it computed by a function, and never several."""
        return all(names_one(selector) for selector in self.selectors)

    @property
    def variable(self) -> str | None:
        """The name of the variable that the path reads, without its ``$``; None for data."""
        return self.root[1:] if len(self.root) > 1 and self.root != "$$" else None


# Validation and compilation ask for the same paths, and so do the states of one machine.
@lru_cache(maxsize=4096)
def parse_path(text: str) -> PathSyntax:
    """Take ``text`` apart; raises ExpressionError when it is no JSONPath."""
    if not text.startswith("$"):
        raise _bad(text, "a path starts with `$` (data), `$$` (context object) or `$name`")
    if text.count("?") > MAX_FILTERS:
        raise _bad(text, f"a path has at most {MAX_FILTERS} filters")
    if bracket_depth(text, "(", ")") > MAX_NESTING:
        raise _bad(text, f"its brackets nest deeper than {MAX_NESTING}")
    syntax, end = read_path(text, 0, _root(text))
    if text[end:].strip():
        raise _bad(text, f"unexpected `{text[end]}` at position {end + 1}")
    return syntax


def read_path(
    text: str, start: int, root: str, name: re.Pattern[str] = _NAME
) -> tuple[PathSyntax, int]:
    """The path that begins at ``start`` with ``root``, and where it ends.

    ``name`` matches the names of its members that stand without quotes.
    """
    position = start + len(root)
    if position < len(text) and root[-1] != "@" and text[position] not in ".[ )&|=!<>~,]":
        raise _bad(text, f"`{text[position]}` cannot follow `{root}`")
    selectors: list[Selector] = []
    while position < len(text) and text[position] in ".[":
        if len(selectors) == MAX_SELECTORS:
            raise _bad(text, f"a path has at most {MAX_SELECTORS} selectors")
        if selectors:
            selectors[-1] = _inside(selectors[-1])
        selector, position = _selector(text, position, name)
        selectors.append(selector)
    tokens: list[Token] = []
    for selector in selectors:
        if selector.token is None:
            break
        tokens.append(selector.token)
    rest = tuple(selectors[len(tokens) :])
    return PathSyntax(text[start:position], root, tuple(tokens), rest), position


def _inside(selector: Selector) -> Selector:
    """``selector`` where another one follows it."""
    if isinstance(selector, Names) and len(selector.names) > 1:
        return EachName(selector.names)
    if isinstance(selector, Descendants):
        return Descendants(_inside(selector.inner))
    return selector


def _root(text: str) -> str:
    if text.startswith("$$"):
        return "$$"
    found = _VARIABLE.match(text, 1)
    if found is None:
        return "$"
    if len(found.group()) > MAX_VARIABLE_NAME:
        raise _bad(text, f"the name of a variable has at most {MAX_VARIABLE_NAME} characters")
    return f"${found.group()}"


def _selector(text: str, position: int, name: re.Pattern[str]) -> tuple[Selector, int]:
    if text.startswith("..", position):
        position += 2
        bracket = text.startswith("[", position)
        inner, end = _bracket(text, position) if bracket else _member(text, position, name)
        return Descendants(inner), end
    if text[position] == "." and not text.startswith("[", position + 1):
        return _member(text, position + 1, name)
    return _bracket(text, position + (text[position] == "."))


def _member(text: str, position: int, pattern: re.Pattern[str]) -> tuple[Selector, int]:
    if text.startswith("*", position):
        return Wildcard(), position + 1
    found = pattern.match(text, position)
    if found is None:
        raise _bad(text, f"a field name is missing at position {position + 1}")
    name, end = found.group(), found.end()
    if not text.startswith("(", end):
        return Names((name,)), end
    if name not in FUNCTIONS:
        known = ", ".join(f"`{function}()`" for function in FUNCTIONS)
        raise _bad(text, f"`{name}(…)` is no function of a path; there are {known}")
    arguments, end = _arguments(text, end + 1)
    return Aggregate(name, arguments), end


def _arguments(text: str, position: int) -> tuple[tuple[Argument, ...], int]:
    """The values and paths up to the bracket that closes a call, and what stands behind it."""
    arguments: list[Argument] = []
    while True:
        position = _SPACES.match(text, position).end()  # type: ignore[union-attr]  # always matches
        if text.startswith(")", position) and not arguments:
            return (), position + 1
        argument, position = _argument(text, position)
        arguments.append(argument)
        position = _SPACES.match(text, position).end()  # type: ignore[union-attr]
        if text.startswith(")", position):
            return tuple(arguments), position + 1
        if not text.startswith(",", position):
            raise _bad(text, f"an argument ends with `,` or `)`, at position {position + 1}")
        position += 1


def _argument(text: str, position: int) -> tuple[Argument, int]:
    if text.startswith("$", position):
        path, end = read_path(text, position, "$", _NAME_IN_FILTER)
        selectors = (*(_selecting(token) for token in path.tokens), *path.selectors)
        return lambda root, budget: select(selectors, root, root, budget), end
    try:
        value, end = _DECODER.raw_decode(text, position)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair cannot be kept
    except (ValueError, RecursionError):
        where = f"at position {position + 1}"
        raise _bad(text, f"an argument is a JSON value or a path, {where}") from None
    if depth_exceeds(value) or any(foreign_places(value)):
        raise _bad(text, f"`{text[position:end][:20]}` is too deep, or a number without end")
    return lambda root, budget: value, end


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _selecting(token: Token) -> Selector:
    return Names((token,)) if isinstance(token, str) else Indexes((token,))


def _bracket(text: str, position: int) -> tuple[Selector, int]:
    end = closing_bracket(text, position)
    content = text[position + 1 : end].strip()
    after = end + 1
    if content == "*":
        return Wildcard(), after
    if content.startswith("?"):
        return _filter(text, content), after
    if _QUOTED.fullmatch(content):
        return Names(tuple(unquote(name) for name in re.findall(_TEXT, content))), after
    parts = [part.strip() for part in content.split(",")]
    if all(_INDEX.fullmatch(part) for part in parts):
        return Indexes(tuple(int(part) for part in parts)), after
    slices = _SLICE.fullmatch(text[position + 1 : end])
    if slices is None:
        raise _bad(text, f"`[{content}]` selects nothing")
    start, stop = (None if part is None else int(part) for part in slices.groups())
    return Slice(start, stop), after


def _filter(text: str, content: str) -> Filter:
    try:
        return Filter(parse_filter(content[1:].strip(), _read_operand))
    except FilterError as error:
        raise _bad(text, str(error)) from error


def _read_operand(text: str, start: int, root: str) -> tuple[PathSyntax, int]:
    """A path inside a filter: what compares and joins stands right after a name."""
    return read_path(text, start, root, _NAME_IN_FILTER)


def closing_bracket(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` closes; brackets in texts do not count."""
    depth = 0
    quote = ""
    position = start
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif quote:
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    raise _bad(text, "a `[` is never closed")


def unquote(text: str) -> str:
    r"""A quoted name without its quotes; only ``\\`` and its own quote are escapes.

    Recorded on AWS: the path ``$['Test\""Name"']`` finds the key ``Test\""Name"``. Jayway 2.9 would
    look for ``Test""Name"`` there, and for ``ü`` with ``\u00fc``: what unescapes the one unescapes
    the other, so AWS does neither.
    """
    quote = text[0]
    return re.sub(rf"\\([\\{quote}])", r"\1", text[1:-1])


def _bad(text: str, why: str) -> ExpressionError:
    shown = text if len(text) <= 120 else f"{text[:119]}…"
    return ExpressionError(
        BAD_PATH, f"`{shown}` is not a JSONPath: {why}", "write for example `$.order.items[0]`"
    )
