"""The functions that Step Functions adds to JSONata, and the names of all there are.

They run in the process that evaluates (``evaluator``).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

from dcf.asl.intrinsics.text import HASHES, digest, read_json
from dcf.asl.jsonata.java_random import JavaRandom

MAX_RANGE = 360_145
"""Most numbers that ``$range`` makes (a Step Functions limit)."""

_FEW = 2_000
"""Elements, and kinds of elements, among which the engine itself finds the distinct ones soon."""

_NAMES = """
    abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl
    decodeUrlComponent distinct each encodeUrl encodeUrlComponent error exists filter floor
    formatBase formatInteger formatNumber fromMillis join keys length lookup lowercase map match max
    merge millis min not now number pad parseInteger power reduce replace reverse round shuffle sift
    single sort split spread sqrt string substring substringAfter substringBefore sum toMillis trim
    type uppercase zip
"""
ENGINE_FUNCTIONS = frozenset(_NAMES.split())
"""The functions of JSONata itself."""

AWS_FUNCTIONS = {
    "hash": "<ss?:s>",
    "parse": "<s?:x>",
    "partition": "<xn?:x>",
    "random": "<n?:n>",
    "range": "<nnn?:a>",
    "uuid": "<:s>",
}
"""The functions of Step Functions by their names, without the ``$``, and what they take."""

FUNCTION_NAMES = frozenset({*ENGINE_FUNCTIONS, *AWS_FUNCTIONS})
"""Every function of JSONata and of Step Functions, which has no ``$eval``."""

PRELUDES = {
    # What a function written here gives as None is undefined, so null comes in an object.
    "parse": "$parse := function($s)<s?:x> { $dcf_parse($s).v }",
    # To a function written here, null and undefined are the same.
    "partition": "$partition := function($a, $n)<xn?:x>"
    " { $a = null ? $dcf_wrong_array() : $dcf_partition($a, $n) }",
    # The engine compares each element with all others.
    "distinct": "$dcf_engine := $distinct; $distinct := function($a)<x:x>"
    " {( $d := $dcf_distinct($a); $exists($d) ? $d : $dcf_engine($a) )}",
}
"""What is defined before an expression that has the function of this name."""

BARRED = "dcf_barred"
"""The function that is called when a result holds a function."""


class FunctionError(Exception):
    """A function refuses its arguments: ``code`` and text as JSONata's own errors have them."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)


class TooBig(Exception):
    """A function would make more than it may."""


class NotData(Exception):
    """A result holds a function, which is no JSON."""


def implementations(rng: Random) -> dict[str, tuple[Callable[..., Any], str]]:
    """By name: what is called, and its signature. Unseeded numbers are drawn from ``rng``.

    Arguments that the caller left out are None, and None is undefined.
    """

    def random(seed: Any) -> float:
        return rng.random() if seed is None else JavaRandom(_whole(seed)).random()

    def make_uuid() -> str:
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))

    return {
        "random": (random, AWS_FUNCTIONS["random"]),
        "uuid": (make_uuid, AWS_FUNCTIONS["uuid"]),
        "hash": (_hash, AWS_FUNCTIONS["hash"]),
        "range": (_range, AWS_FUNCTIONS["range"]),
        "dcf_parse": (_parse, "<s?:o>"),
        "dcf_partition": (_partition, "<an?:a>"),
        "dcf_wrong_array": (_wrong_array, "<:x>"),
        "dcf_distinct": (_distinct, "<x:a>"),
        BARRED: (_barred, "<:x>"),
    }


def _hash(text: Any, algorithm: Any) -> Any:
    if text is None or algorithm is None:
        return None
    if algorithm not in HASHES:
        raise FunctionError("D3137", f"Unsupported algorithm, use one of {', '.join(HASHES)}")
    return digest(text, algorithm)


def _parse(text: Any) -> Any:
    if text is None:
        return None
    try:
        read_json(text)
    except ValueError as error:
        raise FunctionError("D3137", f"Invalid JSON: {error}") from error
    return {"v": json.loads(text, parse_int=_double)}


def _double(digits: str) -> float:
    """An integer, as JSONata's own numbers are: whole to 2**53, then the nearest double."""
    number = int(digits)
    try:
        return number if abs(number) <= 2**53 else float(number)
    except OverflowError:
        raise FunctionError("D3137", "Invalid JSON: a number is beyond double precision") from None


def _partition(items: Any, size: Any) -> Any:
    if items is None:
        return None
    step = len(items) if size is None else _whole(size)
    if step < 0:
        raise FunctionError("D3137", "Second argument must be zero or greater")
    if not items or step == 0:
        return None
    return [items[start : start + step] for start in range(0, len(items), step)]


def _wrong_array() -> Any:
    raise FunctionError("T0412", 'Argument 1 of function "partition" must be an array of "any"')


def _range(first: Any, last: Any, step: Any) -> Any:
    if first is None or last is None or step is None:
        return None
    start, end, by = _whole(first), _whole(last), _whole(step)
    if by == 0:
        return None
    count = (end - start) // by + 1
    if count <= 0:
        return None
    if count > MAX_RANGE:
        raise TooBig
    # As every sequence of JSONata, one number stands for itself.
    return start if count == 1 else [start + by * position for position in range(count)]


def _distinct(items: Any) -> Any:
    """None where the engine is fast, and better: it knows a sequence from an array."""
    if not isinstance(items, list) or len(items) <= _FEW:
        return None
    kept: dict[str, Any] = {}
    for item in items:
        kept.setdefault(json.dumps(item, sort_keys=True, default=id), item)
    return None if len(kept) <= _FEW else [*kept.values()]


def _barred() -> Any:
    raise NotData


def _whole(number: float) -> int:
    """A number cut towards zero, as a 64 bit integer at most."""
    return max(-(2**63), min(int(number), 2**63 - 1))
