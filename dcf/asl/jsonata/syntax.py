"""The text of a JSONata expression parsed into a tree, once, when a definition is read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import regex

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata.library import JException, Jsonata, Utils, slimmed
from dcf.asl.jsonata.regular import bounded_engine
from dcf.asl.payload import excerpt, kind

BAD_JSONATA = "ASL_BAD_JSONATA"
MAX_TEXT = 262_144
"""Longest expression in characters: no definition that Step Functions accepts can hold more."""

MAX_BRACKETS = 200
"""Deepest nesting of brackets; evaluation would refuse far less."""

_EXPRESSION = re.compile(r"\{%(.*)%\}", re.DOTALL)
_INSERT = re.compile(r"\{\{\{?\w+\}?\}\}")
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
def parse_jsonata(text: str) -> Any:
    """The tree of ``text``; raises ExpressionError with the place of the mistake.

    Evaluation changes no tree, so that one serves any number of evaluations and threads.
    """
    if not text:
        raise ExpressionError(BAD_JSONATA, "the JSONata expression is empty", _HINT)
    if len(text) > MAX_TEXT:
        raise _bad(text, f"it has more than {MAX_TEXT} characters")
    if _deepest(text) > MAX_BRACKETS:
        raise _bad(text, f"its brackets nest deeper than {MAX_BRACKETS}")
    try:
        return slimmed(_parser().parse(text, bounded_engine))
    except JException as error:
        raise _bad(text, reason(error), error.location) from error
    except RecursionError as error:
        raise _bad(text, "it nests too deep") from error
    except regex.error as error:
        raise _bad(text, f"a regular expression is wrong: {error}") from error
    except Exception as error:
        raise _bad(text, "the parser does not understand it") from error


def _parser() -> Any:
    """The library's parser of this thread, without what an earlier text left in it."""
    parser = Jsonata.get_parser()
    parser.errors, parser.ancestry = [], []
    parser.ancestor_label = parser.ancestor_index = 0
    return parser


def reason(error: JException) -> str:
    """What the library says, as ``T2001: The left side of the "+" operator must …``."""
    inserts = [error.current, error.expected, error.extra]
    template = JException.error_codes.get(error.error)
    if template is None:
        return str(error.error)

    def insert(found: re.Match[str]) -> str:
        value = inserts.pop(0) if inserts else None
        is_text = isinstance(value, str) and found.group().startswith("{{{")
        return str(value) if is_text else _shown(value)

    message = _INSERT.sub(insert, template.replace(" Object ", " function "))
    return f"{error.error}: {message}"


def _shown(value: object) -> str:
    if value is Utils.NULL_VALUE:
        return "null"
    try:
        return excerpt(value, 200)
    except (TypeError, ValueError, RecursionError):
        return kind(value) if isinstance(value, (dict, list)) else "a function"


def _deepest(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


def _bad(text: str, why: str, position: int = -1) -> ExpressionError:
    shown = text if len(text) <= 120 else f"{text[:119]}…"
    where = f" at position {position}" if position > 0 else ""
    hint = _JOIN_HINT if "{%" in text else _HINT
    return ExpressionError(BAD_JSONATA, f"`{shown}` is not JSONata{where}: {why}", hint)
