"""Filters of a JSONPath, ``?(@.price > 10 && @.name =~ /a.*/i)``, compiled into tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import regex

from dcf.asl.errors import ExpressionError
from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.comparison import COMPARISONS, UNDEFINED, Pattern
from dcf.asl.jsonpath.functions import NoValue
from dcf.asl.jsonpath.known_array import KnownArray
from dcf.asl.jsonpath.number_text import NumberLiteral
from dcf.asl.jsonpath.selector import Descendants, EachName, Names, Test, has_all, select
from dcf.asl.payload import JSON
from dcf.schema import compile_regex

Operand: TypeAlias = Callable[[JSON, JSON, Budget], Any]
"""(the value ``@``, the root ``$``, what it may use) -> a JSON value or UNDEFINED."""

ReadPath: TypeAlias = Callable[[str, int, str], tuple[Any, int]]

MAX_NESTING = 50
"""Deepest nesting of parentheses and negations in a filter."""

_OPERATOR = re.compile(
    r"===|!==|==|!=|<=|>=|<|>|=~|(?:in|nin|contains|subsetof|anyof|noneof|size|empty|type|all)\b",
    re.IGNORECASE,
)
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORD = re.compile(r"(true|false|null)(?![\w-])")
# A text without quotes, as in `@.status == FAILED`.
_BARE = re.compile(r"[^\W\d][\w-]*")
_REGEX = re.compile(r"/((?:[^/\\]|\\.)+)/([a-zA-Z]*)", re.DOTALL)
_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None}
_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}
_FLAGS |= {"u": regex.UNICODE}


class FilterError(Exception):
    """The text of a filter is wrong; the message says how."""


def parse_filter(text: str, read_path: ReadPath) -> Test:
    """The test that ``text``, what follows the ``?``, describes; raises FilterError."""
    if len(text) < 2 or not (text.startswith("(") and text.endswith(")")):
        raise FilterError("a filter is written `[?(…)]`")
    reader = _Reader(text, read_path)
    test = reader.either(0)
    reader.skip_spaces()
    if reader.position != len(text):
        raise FilterError(f"unexpected `{text[reader.position :][:20]}` in the filter")
    return test


class _Reader:
    __slots__ = ("_read_path", "path_read", "position", "text")

    def __init__(self, text: str, read_path: ReadPath) -> None:
        self.text = text
        self.position = 0
        self.path_read: Any = None
        """What the latest path of the filter was taken apart into."""
        self._read_path = read_path

    def either(self, depth: int) -> Test:
        tests = [self.all(depth)]
        while self.take("||"):
            tests.append(self.all(depth))
        if len(tests) == 1:
            return tests[0]
        return lambda item, root, budget: any(test(item, root, budget) for test in tests)

    def all(self, depth: int) -> Test:
        tests = [self.one(depth)]
        while self.take("&&"):
            tests.append(self.one(depth))
        if len(tests) == 1:
            return tests[0]
        return lambda item, root, budget: all(test(item, root, budget) for test in tests)

    def one(self, depth: int) -> Test:
        if depth > MAX_NESTING:
            raise FilterError(f"the filter nests deeper than {MAX_NESTING}")
        if self.take("!"):
            test = self.one(depth + 1)
            return lambda item, root, budget: not test(item, root, budget)
        if self.take("("):
            inner = self.either(depth + 1)
            if not self.take(")"):
                raise FilterError("a `(` of the filter is never closed")
            return inner
        return self.comparison()

    def comparison(self) -> Test:
        self.skip_spaces()
        start = self.position
        left = self.operand()
        self.skip_spaces()
        found = _OPERATOR.match(self.text, self.position)
        if found is None:
            if self.text[start] not in "@$":
                raise FilterError("a filter compares, or names a path that must be there")
            return _existence(self.path_read)
        self.position = found.end()
        compare = COMPARISONS[found.group().lower()]
        right = self.operand()

        def test(item: JSON, root: JSON, budget: Budget) -> bool:
            budget.tick()
            return compare(left(item, root, budget), right(item, root, budget), budget)

        return test

    def operand(self) -> Operand:
        character = self.peek()
        if character in ("@", "$") and character:
            return self.path(character)
        for pattern, read in _LITERALS:
            found = pattern.match(self.text, self.position)
            if found is not None:
                self.position = found.end()
                return _fixed(read(found))
        if character in ("[", "{"):
            return _fixed(self.structure())
        raise FilterError(f"`{self.text[self.position :][:20]}` is no value of a filter")

    def path(self, root: str) -> Operand:
        if self.text.startswith("$$", self.position):
            raise FilterError("a filter reads `@` and `$`, not the context object")
        try:
            syntax, self.position = self._read_path(self.text, self.position, root)
        except ExpressionError as error:
            raise FilterError(error.message) from error
        self.path_read = syntax
        read = _path_operand(syntax.tokens, syntax.selectors, root)
        return _once(read) if root == "$" else read

    def structure(self) -> JSON:
        decoder = json.JSONDecoder()
        text = self.text[self.position :]
        for candidate in (text, re.sub(r"'((?:[^'\"\\]|\\[^'])*)'", r'"\1"', text)):
            try:
                value, length = decoder.raw_decode(candidate)
            except (ValueError, RecursionError):
                continue
            self.position += length
            return value
        raise FilterError(f"`{text[:20]}` is not JSON")

    def take(self, sign: str) -> bool:
        self.skip_spaces()
        if not self.text.startswith(sign, self.position):
            return False
        if sign == "!" and self.text.startswith("!=", self.position):
            return False
        self.position += len(sign)
        return True

    def peek(self) -> str:
        self.skip_spaces()
        return self.text[self.position : self.position + 1]

    def skip_spaces(self) -> None:
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1


def _fixed(value: Any) -> Operand:
    return lambda item, root, budget: value


def _once(read: Operand) -> Operand:
    """``read`` for what lies outside of the value that is tested: one look in an evaluation."""

    def read_once(item: JSON, root: JSON, budget: Budget) -> Any:
        if read not in budget.kept:
            value = read(item, root, budget)
            budget.kept[read] = KnownArray(value) if isinstance(value, list) else value
        return budget.kept[read]

    return read_once


def _path_operand(tokens: tuple[Any, ...], selectors: tuple[Any, ...], base: str) -> Operand:
    def read(item: JSON, root: JSON, budget: Budget) -> Any:
        value = item if base == "@" else root
        for token in tokens:
            holds = isinstance(value, list if isinstance(token, int) else dict)
            if not holds:
                return UNDEFINED
            try:
                value = value[token]
            except LookupError:
                return UNDEFINED
        if not selectors:
            return value
        try:
            return select(selectors, value, root, budget)
        except (LookupError, NoValue):
            return UNDEFINED

    return read


def _existence(path: Any) -> Test:
    """Whether a path is there: each name that it gives must be, but an array may be empty, and so
    may be what ``..`` finds.

    Jayway looks for it in the item, even where it starts with ``$``.
    """
    selectors = path.selectors
    named = [selector.names for selector in selectors if isinstance(selector, (Names, EachName))]
    if any(isinstance(selector, Descendants) for selector in selectors):
        named = []
    read = _path_operand(path.tokens, selectors, "@")

    def test(item: JSON, root: JSON, budget: Budget) -> bool:
        value = read(item, root, budget)
        if value is UNDEFINED or (named and value == []):
            return False
        return not named or not isinstance(value, dict) or has_all(value, named[-1])

    return test


def _compiled(found: re.Match[str]) -> Pattern:
    flags = regex.V0
    for letter in found.group(2):
        if letter.lower() not in _FLAGS:
            raise FilterError(f"`{letter}` is no flag of a regular expression")
        flags |= _FLAGS[letter.lower()]
    try:
        return Pattern(compile_regex(found.group(1), flags))
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        raise FilterError(f"`{found.group()}` is no regular expression: {error}") from error


def _text(found: re.Match[str]) -> str:
    r"""What stands in quotes: ``\u00e9`` and ``\n`` are signs, as in Java."""
    inner = _ESCAPE.sub(_unescaped, found.group()[1:-1])
    return inner.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    code = found.group(1)
    return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROLS.get(code, code)


def _number(found: re.Match[str]) -> float:
    text = found.group()
    return int(text) if text.lstrip("-").isdigit() else NumberLiteral(text)


_LITERALS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Any]], ...] = (
    (_TEXT, _text),
    (_NUMBER, _number),
    (_WORD, lambda found: _WORDS[found.group()]),
    (_REGEX, _compiled),
    (_BARE, lambda found: found.group()),
)
