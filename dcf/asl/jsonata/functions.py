"""The functions that Step Functions adds to JSONata, and those of the library it replaces."""

from __future__ import annotations

import math
import re
import uuid
from typing import Any

from dcf.asl.jsonata.array_functions import ARRAY_FUNCTIONS
from dcf.asl.jsonata.java_random import JavaRandom
from dcf.asl.jsonata.library import JException, Jsonata
from dcf.asl.jsonata.native import NativeFunction, current_rng, whole_number
from dcf.asl.jsonata.pictures import PICTURE_FUNCTIONS
from dcf.asl.jsonata.text_functions import TEXT_FUNCTIONS
from dcf.asl.jsonata.value import LARGEST_EXACT
from dcf.asl.jsonata.walking import WALKING_FUNCTIONS

_DECIMAL = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,5})?", re.ASCII)
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]{1,256}|[oO][0-7]{1,256}|[bB][01]{1,256})")


def _random(seed: Any) -> float:
    return current_rng().random() if seed is None else JavaRandom(whole_number(seed)).random()


def _uuid() -> str:
    return str(uuid.UUID(int=current_rng().getrandbits(128), version=4))


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return value
    if _DECIMAL.fullmatch(value):
        number = float(value)
        if math.isfinite(number):
            return int(number) if number.is_integer() and abs(number) < LARGEST_EXACT else number
    if _BASED.fullmatch(value):
        return int(value, 0)
    raise JException("D3030", -1, value)


def _power(base: Any, exponent: Any) -> Any:
    if base is None or exponent is None:
        return None
    try:
        result = float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        raise JException("D3061", -1, base, exponent) from None
    if isinstance(result, complex):
        raise JException("D3061", -1, base, exponent)
    return int(result) if result.is_integer() and abs(result) < LARGEST_EXACT else result


_NUMBER_FUNCTIONS = (
    NativeFunction("random", "<n?:n>", _random),
    NativeFunction("uuid", "<:s>", _uuid),
    NativeFunction("number", "<(nsb)-:n>", _number),
    NativeFunction("power", "<n-n:n>", _power),
)

FUNCTIONS: dict[str, NativeFunction] = {
    str(function.function_name): function
    for function in (
        *(*_NUMBER_FUNCTIONS, *TEXT_FUNCTIONS, *ARRAY_FUNCTIONS),
        *(*PICTURE_FUNCTIONS, *WALKING_FUNCTIONS),
    )
}
"""Functions written here by their names, without the ``$``."""

FUNCTION_NAMES = frozenset({*Jsonata.static_frame.bindings, *FUNCTIONS} - {"eval"})
"""Every function of JSONata and of Step Functions, which has no ``$eval``."""
