"""Intrinsic functions over strings and JSON text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re

from dcf.asl.intrinsics.arguments import expect_object, expect_string, failure
from dcf.asl.payload import JSON, compact, depth_exceeds, foreign_places, is_heavier

MAX_TEXT = 10_000
"""Longest string in characters that Base64 and Hash functions take (a Step Functions limit)."""

LONGEST = 10_000_000
"""Longest text in characters that is made of a value: far more than any payload may have."""

HASHES = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384"} | {
    "SHA-512": "sha512"
}
"""Algorithms by the name that Step Functions gives them, case-sensitive."""

PLACEHOLDER = re.compile(r"\$\{[^{}]+\}")
"""What a deployment puts a text in for, as in ``s3://${bucket}/{}``: it stays as it is here."""


def format_template(raw: str) -> list[str]:
    """The fixed pieces around each ``{}`` of a template that still has its escapes."""
    pieces: list[str] = []
    piece: list[str] = []
    position = 0
    while position < len(raw):
        character = raw[position]
        if character == "\\" and position + 1 < len(raw):
            piece.append(raw[position + 1])
            position += 2
        elif placeholder := PLACEHOLDER.match(raw, position):
            piece.append(placeholder.group())
            position = placeholder.end()
        elif raw.startswith("{}", position):
            pieces.append("".join(piece))
            piece = []
            position += 2
        elif character in "{}":
            raise failure("Format", f"a single `{character}` must be written `\\{character}`")
        else:
            piece.append(character)
            position += 1
    return [*pieces, "".join(piece)]


def fill_template(pieces: list[str], values: tuple[JSON, ...]) -> str:
    """``pieces`` with ``values`` between them; their numbers must fit."""
    if len(values) != len(pieces) - 1:
        raise failure(
            "Format", f"{len(pieces) - 1} `{{}}` in the template but {len(values)} values"
        )
    if is_heavier(list(values), LONGEST):
        raise failure("Format", f"the text has more than {LONGEST} characters")
    text = [pieces[0]]
    for value, piece in zip(values, pieces[1:], strict=True):
        text.append(value if isinstance(value, str) else _java_text(value))
        text.append(piece)
    return "".join(text)


def format_text(template: JSON, *values: JSON) -> str:
    """``States.Format(template, value, …)`` with a template that is only known at run time."""
    return fill_template(format_template(expect_string("Format", template)), values)


def string_to_json(text: JSON) -> JSON:
    """``States.StringToJson(text)``; blank text is null."""
    checked = expect_string("StringToJson", text)
    if not checked.strip():
        return None
    try:
        return read_json(checked)
    except ValueError as error:
        raise failure("StringToJson", f"the text is not JSON: {error}") from error


def read_json(text: str) -> JSON:
    """The one JSON value that ``text`` is; raises ValueError, also for too deep or too large."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it nests too deep") from None
    if depth_exceeds(value):
        raise ValueError("it nests too deep")
    if any(foreign_places(value)):
        raise ValueError("a number is beyond double precision")
    return value


def json_to_string(value: JSON) -> str:
    """``States.JsonToString(value)``: compact JSON text."""
    if is_heavier(value, LONGEST):
        raise failure("JsonToString", f"the text has more than {LONGEST} characters")
    return compact(value)


def string_split(text: JSON, delimiters: JSON) -> list[str]:
    """``States.StringSplit(text, delimiters)``: any of the characters splits, no empty parts."""
    checked = expect_string("StringSplit", text)
    characters = expect_string("StringSplit", delimiters)
    if not characters:
        return [checked] if checked else []
    return [part for part in re.split(f"[{re.escape(characters)}]", checked) if part]


def base64_encode(text: JSON) -> str:
    """``States.Base64Encode(text)``"""
    data = _short("Base64Encode", text).encode("utf-8", "surrogatepass")
    return base64.b64encode(data).decode("ascii")


def base64_decode(text: JSON) -> str:
    """``States.Base64Decode(text)``: the padding may be left out, as Java has it; what is not
    UTF-8 becomes U+FFFD."""
    encoded = _short("Base64Decode", text)
    if "=" not in encoded:
        encoded += "=" * (-len(encoded) % 4)
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise failure("Base64Decode", f"the text is not Base64: {error}") from error


def hash_text(value: JSON, algorithm: JSON) -> str:
    """``States.Hash(data, algorithm)``: hexadecimal digest. An object is hashed as the text that
    ``States.Format`` makes of it, ``{key=value}``; other data that is no text as JSON."""
    if expect_string("Hash", algorithm) not in HASHES:
        raise failure("Hash", f"unknown algorithm `{algorithm}`; use one of {', '.join(HASHES)}")
    return digest(_short("Hash", _hashed(value)), algorithm)


def _hashed(value: JSON) -> str:
    if isinstance(value, dict):
        return fill_template(["", ""], (value,))
    return value if isinstance(value, str) else json_to_string(value)


def digest(text: str, algorithm: str) -> str:
    """The hexadecimal digest of ``text`` as UTF-8 with one of ``HASHES``."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.new(HASHES[algorithm], data, usedforsecurity=False).hexdigest()


def json_merge(left: JSON, right: JSON, deep: JSON) -> dict[str, JSON]:
    """``States.JsonMerge(left, right, false)``: shallow, ``right`` wins."""
    merged = {**expect_object("JsonMerge", left), **expect_object("JsonMerge", right)}
    if deep is not False:
        raise failure("JsonMerge", "only shallow merging exists: the third argument must be false")
    return merged


def _short(function: str, value: JSON) -> str:
    text = expect_string(function, value)
    if len(text) > MAX_TEXT:
        raise failure(function, f"{len(text)} characters are more than {MAX_TEXT}")
    return text


def _java_text(value: JSON) -> str:
    """How Step Functions prints a value inside a formatted text: objects as ``{key=value}``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_java_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_java_text(item) for item in value) + "]"
    return value if isinstance(value, str) else compact(value)


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not a JSON number")
