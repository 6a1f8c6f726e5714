"""The text of a JSONata expression, checked once, when a definition is read."""

from __future__ import annotations

import re
from functools import lru_cache

import jlens
import regex

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata.tokens import Token, tokens
from dcf.asl.payload import bracket_depth
from dcf.schema import compile_regex

BAD_JSONATA = "ASL_BAD_JSONATA"
MAX_TEXT = 262_144
"""Longest expression in characters: no definition that Step Functions accepts can hold more."""

MAX_BRACKETS = 200
"""Deepest nesting of brackets; evaluation would refuse far less."""

_EXPRESSION = re.compile(r"\{%(.*)%\}", re.DOTALL)
_NAMED_REFERENCE = re.compile(r"\\k<(\w+)>")
_HINT = "write for example `{% $states.input.total > 10 %}`"

_JOIN_HINT = "write one expression only: `{% $states.input.name & ' ' & $states.input.id %}`"


def is_jsonata(value: object) -> bool:
    """Whether ``value`` is a text that is one JSONata expression, ``{% … %}``."""
    return isinstance(value, str) and value.startswith("{%") and value.endswith("%}")


def expression_text(value: str) -> str:
    """What stands between ``{%`` and ``%}``, without the spaces around it."""
    found = _EXPRESSION.fullmatch(value)
    return (found.group(1) if found is not None else value).strip()


@lru_cache(maxsize=256)
def parse_jsonata(text: str) -> tuple[jlens.Expression, tuple[Token, ...]]:
    """``text`` as its engine understands it, and its words.

    Raises ExpressionError with the place of the mistake.
    """
    if not text:
        aws = "Unexpected end of expression"
        raise ExpressionError(BAD_JSONATA, "the JSONata expression is empty", _HINT, aws)
    if len(text) > MAX_TEXT:
        raise _bad(text, f"it has more than {MAX_TEXT} characters")
    if bracket_depth(text, "([{", ")]}") > MAX_BRACKETS:
        raise _bad(text, f"its brackets nest deeper than {MAX_BRACKETS}")
    try:
        expression = jlens.Expression(text)
    except jlens.JlensError as error:
        why = f"{error.code}: {error}"
        raise _bad(text, why, error.position or 0, aws=str(error)) from error
    except UnicodeEncodeError as error:
        raise _bad(text, "half a surrogate pair is no character") from error
    words = tokens(text)
    for word in words:
        if word.kind == "regex":
            _check_regex(text, word)
    return expression, words


def _check_regex(text: str, word: Token) -> None:
    """The engine reads a regular expression when it is used, and takes any."""
    try:
        compile_regex(_NAMED_REFERENCE.sub(r"(?P=\1)", word.text), regex.V0)
    except regex.error as error:
        raise _bad(text, f"a regular expression is wrong: {error}", word.start) from error


def _bad(text: str, why: str, position: int = 0, aws: str = "") -> ExpressionError:
    shown = text if len(text) <= 120 else f"{text[:119]}…"
    where = f" at position {position}" if position > 0 else ""
    hint = _JOIN_HINT if "{%" in text else _HINT
    return ExpressionError(BAD_JSONATA, f"`{shown}` is not JSONata{where}: {why}", hint, aws)
