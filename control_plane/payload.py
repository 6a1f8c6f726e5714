"""User values on their way into and out of RedisJSON.

RedisJSON does not return every JSON value as it was given: integers beyond 64 bits become floats,
some floats lose their last bit, nesting stops at 128. A value that would change is stored as
``{"$json": "<its text>"}``; a large one once as a blob, ``{"$blob": "<sha256>", "size": bytes}``.
A user's own object that looks like one of these is wrapped as ``$json``.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any, Final

from control_plane.errors import BadDocument, PayloadTooLarge

JSON = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

MAX_DEPTH: Final = 100
INLINE_LIMIT: Final = 256 * 1024
BLOB_LIMIT: Final = 16 * 1024 * 1024

_INT64 = 2**63
# A decimal of at most 15 digits and a power of ten up to 22 is converted exactly by any parser
# that multiplies a double mantissa by a double power (the parser inside RedisJSON does).
_EXACT_DIGITS: Final = 15
_EXACT_POWER: Final = 22
_MARKS = ("$json", "$blob")


def _plain_float(number: float) -> bool:
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).strip("0")
    return len(digits) <= _EXACT_DIGITS and (
        abs(int(exponent or 0)) + len(fraction) <= _EXACT_POWER
    )


def is_too_deep(value: object, most: int = MAX_DEPTH) -> bool:
    """Whether ``value`` is nested in more than ``most`` levels; found without recursion."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _plain(value: JSON, depth: int) -> bool:
    """Whether RedisJSON returns ``value`` unchanged. Raises BadDocument for what is not JSON."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return bool(-_INT64 <= value < _INT64)
    if kind is float:
        if not math.isfinite(value):
            raise BadDocument(reason=f"{value} is not a JSON number")
        return _plain_float(value)
    if depth >= MAX_DEPTH:
        raise BadDocument(reason=f"it is nested deeper than {MAX_DEPTH} levels")
    if kind is dict:
        plain = not any(mark in value for mark in _MARKS)
        for key, item in value.items():
            if type(key) is not str:
                raise BadDocument(reason=f"the member name {key!r} is not a string")
            plain = _plain(item, depth + 1) and plain
        return plain
    if kind is list or kind is tuple:
        plain = True
        for item in value:
            plain = _plain(item, depth + 1) and plain
        return plain
    raise BadDocument(reason=f"a {kind.__name__} is not a JSON value")


def to_text(value: JSON) -> str:
    """``value`` as compact JSON text. Raises BadDocument for what is not JSON."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadDocument(reason=str(error)) from error
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadDocument(reason=f"it has a lone surrogate at character {error.start}") from error
    return text


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Payload:
    """A value ready to be stored: ``stored`` goes into the document, ``blob`` beside it.

    ``digest`` is the SHA-256 of the value's own JSON text, inline or not.
    """

    stored: str
    digest: str
    size: int
    blob: str | None = None


def encode(value: JSON, *, inline_limit: int = INLINE_LIMIT) -> Payload:
    """Prepare ``value`` (see the module's text).

    Raises BadDocument when it is no JSON, PayloadTooLarge over 16 MiB: both are permanent.
    """
    plain = _plain(value, 0)
    text = to_text(value)
    size = len(text.encode()) if not text.isascii() else len(text)
    sha256 = digest(text)
    if size > BLOB_LIMIT:
        raise PayloadTooLarge(size=size, limit=BLOB_LIMIT, reason="too large")
    if size > inline_limit:
        return Payload(f'{{"$blob":"{sha256}","size":{size}}}', sha256, size, blob=text)
    if not plain:
        return Payload(to_text({"$json": text}), sha256, size)
    return Payload(text, sha256, size)


def blob_of(stored: JSON) -> str | None:
    """The SHA-256 that ``stored`` refers to, or None when the value is inline."""
    if type(stored) is dict and "$blob" in stored:
        return str(stored["$blob"])
    return None


def digest_of(stored: JSON) -> str:
    """The digest of the value that ``stored`` stands for, as ``Payload`` has it."""
    sha256 = blob_of(stored)
    if sha256 is not None:
        return sha256
    return digest(
        stored["$json"] if type(stored) is dict and "$json" in stored else to_text(stored)
    )


def decode(stored: JSON) -> JSON:
    """The value that was stored inline. A reference to a blob is for ``Store.value``."""
    if type(stored) is dict and "$json" in stored:
        return json.loads(stored["$json"])
    return stored
