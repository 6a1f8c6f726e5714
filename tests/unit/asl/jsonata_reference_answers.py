"""What we say of an expression, as the reference implementation says it, and where both differ."""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

from unit.asl.jsonata_scope import CONTEXT

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope

Answer: TypeAlias = list[Any]
"""["value", v], ["undefined"], ["function"], ["no number"] or ["error", code, position]."""

_REFUSED = re.compile(r"is not JSONata(?: at position (\d+))?: (?:([A-Z]\d{4}): )?(.*)", re.DOTALL)
_FAILED = re.compile(r"threw an error during evaluation[.:] (?:([A-Z]\d{4}): )?(.*)", re.DOTALL)

_BY_CODE_POINTS = re.compile(r"\$(split|match|replace|parseInteger)\(.*[^\x00-\uffff]", re.DOTALL)
_LARGE = re.compile(r'\$format(Number|Base)\((1e21|1e100)\b|\$formatNumber\(1e20, ".*[%‰]')
_EMPTY_INSIDE = re.compile(
    r"\$(map|filter|each|sift)\(.*\$(map|filter|each|sift)\(|\]\.\[", re.DOTALL
)
_MISSING_ARGUMENT = re.compile(r"\$(replace|split)\(.*(missing|none|name|nothing|%)", re.DOTALL)
_UNEVEN_GROUPS = re.compile(r'\$formatNumber\(.*"###,##,#"')
_MANY_PLACES = re.compile(r"\$round\(.*1e21\)")
_CAPITALS = re.compile(r"\$toMillis\(.*\[([MFP]N|[a-zA-Z]?[iI])", re.DOTALL)


def ours(text: str, data: Any) -> Answer:
    """What we say of ``text`` with ``data`` as the input of its state, and 7 as ``$v``."""
    try:
        value = compile_jsonata(f"{{% {text} %}}", "Output")(Scope(data, CONTEXT, {"v": 7}))
    except ExpressionError as error:
        found = _REFUSED.search(error.message)
        assert found is not None, error.message
        return ["error", found[2] or found[3], int(found[1] or 0)]
    except EvaluationError as error:
        if error.cause.endswith("returned nothing (undefined)."):
            return ["undefined"]
        if error.cause.endswith("returned an unsupported result type."):
            return ["function"]
        found = _FAILED.search(error.cause)
        assert found is not None, error.cause
        return ["error", found[1] or found[2], None]
    return ["value", value]


def verdict(text: str, mine: Answer, theirs: Answer) -> str:
    """``agrees``, ``differs``, or why a difference is left."""
    kinds = mine[0], theirs[0]
    codes = mine[1] if kinds[0] == "error" else "", theirs[1] if kinds[1] == "error" else ""
    if kinds == ("error", "error") and codes[0] == codes[1]:
        if mine[2] in (None, theirs[2]):
            return "agrees"
        return "differs" if text.isascii() else "a position in characters, not in UTF-16 units"
    if kinds[0] == kinds[1] != "error" and _same(mine, theirs):
        return "agrees"
    if theirs == ["no number"] and codes[0] == "D1001":
        return "agrees"  # JSON cannot say it: an error, where the reference leaves it to the caller
    if kinds[1] == "error" and not re.fullmatch(r"[A-Z]\d{4}", codes[1]):
        return "an exception inside the reference"
    if codes[0] == "D3150" and kinds[1] == "value":
        return "a time zone that is none, NaN there"
    if kinds == ("error", "error"):
        return "another one of several errors: the reference evaluates members at once"
    if _BY_CODE_POINTS.search(text):
        return "half a surrogate pair is no character"
    if _LARGE.search(text):
        return "digits from 1e21 on, an exponent there"
    if kinds[0] == "undefined" and _EMPTY_INSIDE.search(text):
        return "an empty sequence inside of another is no item, [] there"
    if _MISSING_ARGUMENT.search(text):
        return "an argument of $replace or $split that is missing, the text 'undefined' there"
    if _UNEVEN_GROUPS.search(text):
        return "groups of several sizes, misplaced there"
    if _MANY_PLACES.search(text):
        return "10**21 decimal places, NaN there"
    not_read = kinds[0] == "value" and kinds[1] != "value"
    if not_read and (_CAPITALS.search(text) or "$parseInteger(" in text):
        return "a name or Roman number in another case, not read there"
    if "$parseInteger(" in text and _is_rounded_sum(mine[-1], theirs[-1]):
        return "digits of a number beyond 2**53, added in another order"
    return "differs"


def _is_rounded_sum(left: Any, right: Any) -> bool:
    numbers = _is_number(left) and _is_number(right)
    return numbers and abs(left) > 2**53 and math.isclose(left, right, rel_tol=1e-15)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if _is_number(left) and _is_number(right):
        return float(left) == float(right)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
