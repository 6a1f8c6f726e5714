"""What an intrinsic function demands of its arguments, and the error when it does not get it."""

from __future__ import annotations

import math

from dcf.asl.errors import INTRINSIC_FAILURE, EvaluationError
from dcf.asl.payload import JSON, compact, is_integer, kind


def failure(function: str, why: str) -> EvaluationError:
    """The error of an intrinsic that cannot work with its arguments."""
    return EvaluationError(INTRINSIC_FAILURE, f"States.{function}: {why}")


def expect_array(function: str, value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise failure(function, f"expected an array, found {_shown(value)}")
    return value


def expect_integer(function: str, value: JSON) -> int:
    """A number, rounded to the nearest integer as Step Functions does."""
    if is_integer(value):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return round(value)
    raise failure(function, f"expected a number, found {_shown(value)}")


def expect_string(function: str, value: JSON) -> str:
    if not isinstance(value, str):
        raise failure(function, f"expected a string, found {_shown(value)}")
    return value


def expect_object(function: str, value: JSON) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise failure(function, f"expected an object, found {_shown(value)}")
    return value


def _shown(value: JSON) -> str:
    if isinstance(value, (dict, list)):
        return f"an {kind(value)}"
    text = compact(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
