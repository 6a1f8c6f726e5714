"""The words of a JSONata expression: what its engine does not tell about a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["variable", "name", "number", "text", "regex", "sign"]

_WORD = re.compile(
    r"""
    (?P<skipped> \s+ | /\*.*?(?:\*/|\Z) )
    | (?P<text> "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'? )
    | `(?P<quoted> [^`]* )`?
    | \$(?P<variable> \$ | [^\s.\[\]{}(),@\#;:?+\-*/%|=<>^&!~$'"`]* )
    | (?P<number> \d+(?:\.\d+)?(?:[eE][-+]?\d+)? )
    | (?P<sign> \.\. | := | != | >= | <= | \*\* | ~> | \?: | \?\?
        | [.\[\]{}(),@\#;:?+\-*/%|=<>^&!~] )
    | (?P<name> [^\s.\[\]{}(),@\#;:?+\-*/%|=<>^&!~]+ )
    """,
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?P<pattern>(?:\\.|[^/\\])*)/[im]*", re.DOTALL)
_OPERATORS = frozenset({"and", "or", "in"})
_ENDS_VALUE = frozenset({")", "]", "}", "*", "**", "%"})
"""Signs after which a ``/`` divides."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word: ``text`` is the name of a variable, without ``$``, or of a field, else as written.

    ``start`` and ``end`` are its place in the expression.
    """

    kind: Kind
    text: str
    start: int
    end: int

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


def tokens(expression: str) -> tuple[Token, ...]:
    """The words of an expression that is sound; spaces and comments are left out."""
    return tuple(_tokens(expression))


def neighbours(words: Sequence[Token]) -> Iterator[tuple[Token | None, Token, Token | None]]:
    """Each word between the one before it and the one after it."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        yield before, word, words[place + 1] if place + 1 < len(words) else None


def _tokens(expression: str) -> Iterator[Token]:
    position = 0
    before: Token | None = None
    while position < len(expression):
        literal = None if ends_value(before) else _REGEX.match(expression, position)
        is_comment = expression.startswith("/*", position)
        if literal is not None and not is_comment:
            before = Token("regex", literal["pattern"], position, literal.end())
        else:
            found = _WORD.match(expression, position)
            if found is None or found.end() == position:
                return
            if found.lastgroup == "skipped":
                position = found.end()
                continue
            before = _token(found)
        yield before
        position = before.end


def _token(found: re.Match[str]) -> Token:
    text = found[found.lastgroup or 0]
    match found.lastgroup:
        case "quoted":
            return Token("name", text, found.start(), found.end())
        case "variable" | "name" | "number" | "text" | "sign" as kind:
            return Token(kind, text, found.start(), found.end())
        case other:
            raise AssertionError(other)


def ends_value(token: Token | None) -> bool:
    if token is None:
        return False
    if token.kind == "sign":
        return token.text in _ENDS_VALUE
    return not (token.kind == "name" and token.text in _OPERATORS)
