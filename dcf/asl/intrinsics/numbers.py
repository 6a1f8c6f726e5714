"""Intrinsic functions over numbers and randomness."""

from __future__ import annotations

import sys
import uuid
from random import Random

from dcf.asl.intrinsics.arguments import expect_integer, failure
from dcf.asl.payload import JSON

LARGEST = sys.float_info.max


def math_add(left: JSON, right: JSON) -> int:
    """``States.MathAdd(a, b)``: the sum of two integers."""
    total = expect_integer("MathAdd", left) + expect_integer("MathAdd", right)
    if abs(total) > LARGEST:  # else a loop could make a number too long to be written
        raise failure("MathAdd", "the sum is beyond double precision")
    return total


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
