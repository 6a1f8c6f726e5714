"""A mistake in JSON as the parser behind AWS tells it."""

from __future__ import annotations

import json
import re

from dcf.asl.checks.aws_wording import SCHEMA, Diagnostic

_VALUES = "JSON String, Number, Array, Object or token 'null', 'true' or 'false'"
_TOKEN = re.compile(r"[\w$]+")
_SHOWN = 500


def syntax_diagnostic(text: str, error: json.JSONDecodeError) -> Diagnostic:
    """What AWS says of ``text``, which is no JSON."""
    if not text.strip():
        return Diagnostic(SCHEMA, "Definition must be a valid JSON object")
    what, width = _fault(text, error.pos)
    place = f"[Source: {_source(text)}; line: {error.lineno}, column: {error.colno + width}]"
    return Diagnostic("INVALID_JSON_DESCRIPTION", f"{what}\n at {place}", place)


def _fault(text: str, position: int) -> tuple[str, int]:
    """What is wrong at ``position``, and how many characters the parser has read there."""
    if position >= len(text):
        return "Unexpected end-of-input", 0
    token = _TOKEN.match(text, position)
    if token is not None and not token.group()[0].isdigit():
        what = f"Unrecognized token '{token.group()}': was expecting ({_VALUES})"
        return what, len(token.group())
    character = text[position]
    what = (
        f"Unexpected character ('{character}' (code {ord(character)})): was expecting ({_VALUES})"
    )
    return what, 1


def _source(text: str) -> str:
    cut = f"[truncated {len(text) - _SHOWN} chars]" if len(text) > _SHOWN else ""
    return f'(String)"{text[:_SHOWN]}"{cut}'
