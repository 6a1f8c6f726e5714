"""Text of users on its way to a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of writing
    "\u2028\u2029"  # ends of lines for some terminals
    "\ud800-\udfff]"  # bytes that were no UTF-8, which no stream takes
)


def visible(text: str) -> str:
    """``text`` with control characters written out (``\\x1b``, ``\\u202e``): a name or an error
    message must not move the cursor, change colours, set titles or turn the order of what is read.
    Line ends and tabs stay."""
    return _CONTROL.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
