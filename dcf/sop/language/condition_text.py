"""Conditions in words: ``total is over 100 and country is one of "DE", "FR"``."""

from __future__ import annotations

import re

from dcf.sop.condition import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Membership,
    Name,
    Not,
    Operator,
    Presence,
)
from dcf.sop.language.condition_tokens import Token, tokens_of
from dcf.sop.language.phrase import DOTTED, Unreadable, unquoted

_HINT = (
    'compare a name with a value: `total` is over 100, `status` is "paid", `note` is missing, '
    '`country` is one of "DE", "FR"; join with and, or, not, ( )'
)
_DEEPEST = 30

_TESTS: dict[str, str] = {
    **dict.fromkeys(("is present", "is given", "is set", "is there", "exists"), "present"),
    **dict.fromkeys(
        (
            "is not present",
            "is missing",
            "is absent",
            "is not given",
            "is not set",
            "is not there",
            "does not exist",
        ),
        "absent",
    ),
    "matches": "match",
    "does not match": "no match",
    "starts with": "prefix",
    "ends with": "suffix",
    **dict.fromkeys(("is one of", "is any of", "is in", "in"), "member"),
    **dict.fromkeys(("is not one of", "is none of", "is not in", "not in"), "no member"),
    **dict.fromkeys(
        (
            "is more than",
            "is greater than",
            "is larger than",
            "is over",
            "is above",
            "exceeds",
            "is after",
            "is later than",
            ">",
        ),
        ">",
    ),
    **dict.fromkeys(
        (
            "is less than",
            "is fewer than",
            "is smaller than",
            "is under",
            "is below",
            "is before",
            "is earlier than",
            "<",
        ),
        "<",
    ),
    **dict.fromkeys(
        ("is at least", "is not less than", "is greater than or equal to", ">=", "≥"), ">="
    ),
    **dict.fromkeys(
        ("is at most", "is not more than", "is less than or equal to", "<=", "≤"), "<="
    ),
    **dict.fromkeys(
        (
            "is not",
            "isn't",
            "is not equal to",
            "does not equal",
            "is different from",
            "differs from",
            "!=",
            "≠",
        ),
        "!=",
    ),
    **dict.fromkeys(("is", "equals", "is equal to", "is the same as", "==", "="), "=="),
}
_LONGEST_TEST = max(len(words.split()) for words in _TESTS)
_OPERATORS: dict[str, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


def read_condition(text: str) -> Condition:
    """The condition in ``text``. ``or`` binds least, then ``and``, then ``not``.

    A name in backticks alone means that it is true. On the right of a comparison a name stands in
    backticks; a bare word is a text, after ``is`` and in lists only. Raises ``Unreadable``.
    """
    reader = _Reader(text)
    condition = reader.any_of(0)
    reader.expect_end()
    return condition


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._at = 0

    def any_of(self, depth: int) -> Condition:
        found = [self._all_of(depth)]
        while self._take_word("or"):
            found.append(self._all_of(depth))
        return found[0] if len(found) == 1 else AnyOf(tuple(found))

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise self._wrong(f"{self._tokens[self._at].text!r} is not understood")

    def _all_of(self, depth: int) -> Condition:
        found = [self._not(depth)]
        while self._take_word("and"):
            found.append(self._not(depth))
        return found[0] if len(found) == 1 else AllOf(tuple(found))

    def _not(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise self._wrong(f"it is nested over {_DEEPEST} deep")
        if self._take_word("not"):
            return Not(self._not(depth + 1))
        if self._take_mark("("):
            inner = self.any_of(depth + 1)
            if not self._take_mark(")"):
                raise self._wrong("a ( is not closed")
            return inner
        return self._test()

    def _test(self) -> Condition:
        name = self._name()
        test = self._take_test()
        match test:
            case None if self._tokens[self._at - 1].kind == "name":
                return Comparison(name, "==", Constant(True))
            case None:
                raise self._wrong(
                    f"{name.path!r} is compared with nothing; names stand in `backticks`"
                )
            case "present":
                return Presence(name)
            case "absent":
                return Not(Presence(name))
            case "member":
                return Membership(name, self._values())
            case "no member":
                return Not(Membership(name, self._values()))
            case "match" | "no match" | "prefix" | "suffix":
                return self._pattern(name, test)
        operator = _OPERATORS[test]
        return Comparison(name, operator, self._operand(operator))

    def _name(self) -> Name:
        token = self._next("a name")
        path = token.text.strip("`").strip()
        if token.kind not in ("name", "word") or not re.fullmatch(DOTTED, path):
            raise self._wrong(f"{token.text!r} is no name of a value")
        return Name(path)

    def _take_test(self) -> str | None:
        words: list[str] = []
        found: tuple[int, str] | None = None
        for token in self._tokens[self._at : self._at + _LONGEST_TEST]:
            if token.kind not in ("word", "sign"):
                break
            words.append(token.text.lower().replace("’", "'"))
            test = _TESTS.get(" ".join(words))
            if test:
                found = len(words), test
        if found is None:
            return None
        self._at += found[0]
        return found[1]

    def _pattern(self, name: Name, test: str) -> Condition:
        token = self._next("a text")
        if token.kind != "text":
            raise self._wrong(f'after {name.path!r}, {token.text!r} is no text in "quotes"')
        text = self._quoted(token)
        if test in ("prefix", "suffix"):
            literal = text.replace("\\", "\\\\").replace("*", "\\*")
            return Match(name, f"{literal}*" if test == "prefix" else f"*{literal}")
        return Not(Match(name, text)) if test == "no match" else Match(name, text)

    def _operand(self, operator: Operator) -> Name | Constant:
        token = self._next("a value")
        if token.kind == "name":
            self._at -= 1
            return self._name()
        constant = self._constant(token)
        if token.kind == "word" and not isinstance(constant.value, bool) and operator[0] in "<>":
            raise self._wrong(
                f"{token.text!r} is no number: write `{token.text}` for a value by name"
            )
        if isinstance(constant.value, bool) and operator[0] in "<>":
            raise self._wrong("true and false have no order")
        return constant

    def _values(self) -> tuple[Constant, ...]:
        closing = "]" if self._take_mark("[") else ")" if self._take_mark("(") else ""
        values = [self._constant(self._next("a value"))]
        while self._take_mark(",") or self._next_value_after_or(bool(closing)):
            self._take_word("or")
            values.append(self._constant(self._next("a value")))
        if closing and not self._take_mark(closing):
            raise self._wrong("the list is not closed")
        return tuple(values)

    def _next_value_after_or(self, inside: bool) -> bool:
        """Whether an ``or`` goes on with the list, and not with another condition."""
        ahead = self._tokens[self._at : self._at + 3]
        if not ahead or ahead[0].kind != "word" or ahead[0].text.lower() != "or":
            return False
        if not inside and (len(ahead) < 2 or ahead[1].kind not in ("text", "number", "word")):
            return False
        if not inside and len(ahead) > 2 and ahead[2].text.lower() not in ("and", "or", ",", ")"):
            return False
        self._at += 1
        return True

    def _constant(self, token: Token) -> Constant:
        match token.kind:
            case "text":
                return Constant(self._quoted(token))
            case "number":
                plain = re.fullmatch(r"[-+]?[0-9]{1,18}", token.text)
                value = int(token.text) if plain else float(token.text)
                if value in (float("inf"), float("-inf")):
                    raise self._wrong(f"{token.text} is larger than any number can be")
                return Constant(value)
            case "word" if token.text.lower() not in ("and", "or", "not"):
                return Constant(_WORDS.get(token.text.lower(), token.text))
        raise self._wrong(f"{token.text!r} is no value")

    def _quoted(self, token: Token) -> str:
        try:
            return unquoted(token.text)
        except ValueError:
            raise self._wrong(f"the text {token.text} cannot be read") from None

    def _next(self, wanted: str) -> Token:
        if self._at >= len(self._tokens):
            raise self._wrong(f"{wanted} is missing at the end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take_word(self, word: str) -> bool:
        return self._take("word", word)

    def _take_mark(self, mark: str) -> bool:
        return self._take("mark", mark)

    def _take(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == kind and token.text.lower() == text:
                self._at += 1
                return True
        return False

    def _wrong(self, reason: str) -> Unreadable:
        return Unreadable("SOP_CONDITION", f"the condition {self._text.strip()!r}: {reason}", _HINT)
