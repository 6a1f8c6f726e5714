"""How a text is read: without what letters look like, and with the escapes of JSON decoded; and
what stands in JSON because of its form alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import fields

from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.observation import Artifact
from dcf.memory.playbook import PlaybookUse
from dcf.memory.thread import ToolUse

IGNORED = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
"""Characters that nobody sees, as in a class of a regular expression: Default_Ignorable_Code_Point
of the Unicode database, without those that are letters and those beyond U+FFFF."""

_CALL = frozenset({"kind", "id", "tool", "arguments", "content", "is_error"})
_KEPT = (ToolUse, Artifact, PlaybookUse, ConsolidationChange, LeftOut)
OURS = _CALL | {field.name for one in _KEPT for field in fields(one)}
"""Keys of what columns have lists of, as the parts of a message: they stay."""
WORDS = OURS | {"true", "false", "null"}

_TIMES = 8
"""JSON in JSON: what a tool was called with, in a message, in an event, in a line of a log. Each
doubles what is before an escape, so that more is hardly kept."""
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SURROGATE = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def folded(text: str) -> str:
    """``text`` in one form for all that ignore case: the same for a sharp s and ``SS``, and for a
    letter with a mark in one character or two. An i is one with a dot or without."""
    if text.isascii():
        return text.lower()
    # Folding takes some letters with marks apart.
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return plain.replace("\u0131", "i").replace("i\u0307", "i")


def readings(text: str) -> Iterator[str]:
    """``text``, and what it says with its escapes decoded, and those in that, some times. It
    need not be JSON: a log has JSON behind other words."""
    yield text
    for _ in range(_TIMES):
        plain = _SURROGATE.sub(_joined, _ESCAPE.sub(_decoded, text))
        if plain == text:
            return
        yield (text := plain)


def _decoded(escape: re.Match[str]) -> str:
    if escape[1] is not None:
        return chr(int(escape[1], 16))
    return _SHORT.get(escape[2], escape[2])


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
