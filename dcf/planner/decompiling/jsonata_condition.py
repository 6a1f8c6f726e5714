"""JSONata conditions read back: those that a compiler writes, and others of the same plain kind."""

from __future__ import annotations

import json
import re
from typing import Any

from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Membership,
    Name,
    Not,
    Presence,
)

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>\$states\.input(?:\.\w+)+|\$(?!states\b)[A-Za-z]\w*(?:\.\w+)*(?![\w(]))
      |(?P<call>\$[A-Za-z]\w*)\(
      |(?P<text>'[^'\\]*'|"(?:[^"\\]|\\.)*")
      |(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
      |(?P<pattern>/(?:[^/\\]|\\.)+/)
      |(?P<word>true|false|null|and|or|in)\b
      |(?P<sign><=|>=|!=|[=<>()\[\],]))""",
    re.VERBOSE,
)
_SIGNS = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}


class NotPlain(Exception):
    """An expression that asks for more than a procedure can say."""


def read_jsonata(expression: str) -> Condition:
    """The condition in ``expression``, without ``{% %}``. Raises ``NotPlain``."""
    reader = _Reader(_tokens(expression))
    found = _simplified(reader.either())
    if reader.left:
        raise NotPlain(expression)
    return found


def _tokens(expression: str) -> list[tuple[str, str]]:
    found, at = [], 0
    expression = expression.strip()
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None or match.lastgroup is None:
            raise NotPlain(expression)
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Reader:
    """Recursive descent: or, and, then comparisons."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.left = tokens
        self._depth = 0

    def either(self) -> Condition:
        self._depth += 1
        if self._depth > 50:
            raise NotPlain("nested too deep")
        parts = [self._every()]
        while self._take("word", "or"):
            parts.append(self._every())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _every(self) -> Condition:
        parts = [self._one()]
        while self._take("word", "and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self) -> Condition:
        if self._take("sign", "("):
            inner = self.either()
            self._demand("sign", ")")
            return inner
        if self._take("call", "$not"):
            inner = self.either()
            self._demand("sign", ")")
            return Not(inner)
        if self._take("call", "$exists"):
            there = Name(self._name())
            self._demand("sign", ")")
            return Presence(there)
        if self._take("call", "$type"):
            return self._text()
        if self.left and self.left[0] == ("call", "$contains"):
            return self._match(None)
        return self._comparison()

    def _text(self) -> Condition:
        """A text, of which a pattern may be asked."""
        name = self._name()
        for kind, text in (("sign", ")"), ("sign", "="), ("text", "'string'")):
            self._demand(kind, text)
        if self.left[:2] != [("word", "and"), ("call", "$contains")]:
            return Match(Name(name), "*")
        self._demand("word", "and")
        return self._match(name)

    def _match(self, name: str | None) -> Condition:
        self._demand("call", "$contains")
        found = self._name()
        self._demand("sign", ",")
        pattern = self._pattern()
        self._demand("sign", ")")
        if name is not None and name != found:
            raise NotPlain(found)
        return Match(Name(found), pattern)

    def _comparison(self) -> Condition:
        left = Name(self._name())
        if self._take("word", "in"):
            return Membership(left, tuple(self._list()))
        sign = self._next("sign")
        right = self._operand()
        if sign not in _SIGNS:
            raise NotPlain(sign)
        if isinstance(right, Constant) and right.value is None:
            if sign == "!=":
                return Presence(left)
            if sign == "=":
                return Not(Presence(left))
            raise NotPlain(sign)
        return Comparison(left, _SIGNS[sign], right)  # type: ignore[arg-type]

    def _list(self) -> list[Constant]:
        self._demand("sign", "[")
        found: list[Constant] = []
        while not found or self._take("sign", ","):
            constant = self._operand()
            if isinstance(constant, Name):
                raise NotPlain(constant.path)
            found.append(constant)
        self._demand("sign", "]")
        return found

    def _operand(self) -> Name | Constant:
        if not self.left:
            raise NotPlain("it ends in the middle")
        kind, text = self.left[0]
        if kind == "name":
            return Name(self._name())
        self.left = self.left[1:]
        if kind == "text":
            return Constant(text[1:-1] if text[0] == "'" else json.loads(text))
        if kind == "number":
            return Constant(json.loads(text))
        if kind == "word" and text in _CONSTANTS:
            return Constant(_CONSTANTS[text])
        raise NotPlain(text)

    def _name(self) -> str:
        return self._next("name").removeprefix("$states.input.").removeprefix("$")

    def _pattern(self) -> str:
        return stars(self._next("pattern")[1:-1])

    def _take(self, kind: str, text: str) -> bool:
        if self.left and self.left[0] == (kind, text):
            self.left = self.left[1:]
            return True
        return False

    def _demand(self, kind: str, text: str) -> None:
        if not self._take(kind, text):
            raise NotPlain(text)

    def _next(self, kind: str) -> str:
        if not self.left or self.left[0][0] != kind:
            raise NotPlain(kind)
        (_, text), *self.left = self.left
        return text


def stars(regular: str) -> str:
    """The pattern with stars that a regular expression came from. Raises ``NotPlain``."""
    if not (regular.startswith("^") and regular.endswith("$")):
        raise NotPlain(regular)
    parts = []
    for token in re.findall(r"\[\\s\\S\]\*|\\.|.", regular[1:-1]):
        if token == r"[\s\S]*":
            parts.append("*")
        elif token.startswith("\\"):
            parts.append("\\*" if token[1] == "*" else "\\\\" if token[1] == "\\" else token[1])
        elif token in "[](){}.*+?|^$":
            raise NotPlain(regular)
        else:
            parts.append(token)
    return "".join(parts)


def _simplified(found: Condition) -> Condition:
    """Without what only guards a comparison: of a value that is not there it would fail."""
    match found:
        case Not(Comparison(left, "==", right)):
            return Comparison(left, "!=", right)
        case Not(inner):
            return Not(_simplified(inner))
        case AnyOf(parts):
            return AnyOf(tuple(_simplified(part) for part in parts))
        case AllOf(parts):
            last = parts[-1]
            if isinstance(last, Comparison) and last.operator in ("<", "<=", ">", ">="):
                compared = {one for one in (last.left, last.right) if isinstance(one, Name)}
                guards = {part.name for part in parts[:-1] if isinstance(part, Presence)}
                if len(guards) == len(parts) - 1 and guards <= compared:
                    return last
            return AllOf(tuple(_simplified(part) for part in parts))
        case _:
            return found
