"""Intrinsic functions over numbers and randomness."""

from __future__ import annotations

import uuid
from random import Random

from dcf.asl.intrinsics.arguments import expect_integer, failure
from dcf.asl.payload import JSON

LOWEST, HIGHEST = -2_147_483_648, 2_147_483_647
"""What ``States.MathAdd`` adds is not beyond these (a Step Functions limit)."""


def math_add(left: JSON, right: JSON) -> int:
    """``States.MathAdd(a, b)``: the sum of two integers, each of 32 bits with a sign."""
    return sum(_expect_addend(value) for value in (left, right))


def _expect_addend(value: JSON) -> int:
    number = expect_integer("MathAdd", value)
    if not LOWEST <= number <= HIGHEST:
        raise failure("MathAdd", f"{number} is not between {LOWEST} and {HIGHEST}")
    return number


def math_random(rng: Random, start: JSON, end: JSON, seed: JSON = None) -> int:
    """``States.MathRandom(start, end[, seed])``: from ``start`` up to, not including, ``end``."""
    low, high = expect_integer("MathRandom", start), expect_integer("MathRandom", end)
    if low >= high:
        raise failure("MathRandom", f"the start {low} must be below the end {high}")
    source = rng if seed is None else Random(expect_integer("MathRandom", seed))
    return source.randrange(low, high)


def random_uuid(rng: Random) -> str:
    """``States.UUID()``: a version 4 UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))
