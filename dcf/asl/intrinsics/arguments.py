"""What an intrinsic function demands of its arguments, and the error when it does not get it."""

from __future__ import annotations

import math

from dcf.asl.payload import JSON, compact, is_integer, kind


class IntrinsicProblem(Exception):
    """An intrinsic function cannot work with its arguments; the call it stands in is not known."""


def failure(function: str, why: str) -> IntrinsicProblem:
    """The problem of ``States.<function>``."""
    return IntrinsicProblem(f"States.{function}: {why}")


def expect_array(function: str, value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise failure(function, f"expected an array, found {_shown(value)}")
    return value


def expect_integer(function: str, value: JSON) -> int:
    """A number, rounded to the nearest integer, a half upwards, as Step Functions does."""
    if is_integer(value):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return math.floor(value + 0.5)
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
