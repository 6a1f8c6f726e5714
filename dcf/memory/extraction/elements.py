"""The tags of an answer, found in a text that may be no XML at all.

No XML reader is used: models forget to close what they opened and write ``<T>`` in prose, and a
reader of XML would bring entities and external files with it. Only our own names are tags; all else
is text. Each character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TEXTS = frozenset({"type", "title", "subtitle", "narrative", "fact", "concept", "file", "artifact"})
"""Elements that hold text."""
HOLDERS = frozenset({"facts", "concepts", "files_modified", "files_read", "artifacts"})
"""Elements that hold such elements."""
EDGES = frozenset({"observations", "observation"})
TAGS = (*sorted(EDGES | HOLDERS | TEXTS, key=lambda name: (-len(name), name)),)

_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<raw>.*?)(?:\]\]>|\Z)"
    r"|<!--.*?(?:-->|\Z)"
    rf"|<(?P<close>/?)(?P<name>{'|'.join(TAGS)})(?P<attributes>\s[^<>]{{0,500}})?\s{{0,20}}>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w{0,30})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)')")
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));", re.I)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_EMPTY = re.compile(r"/\s*\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """A tag (``name`` in lower case), or text where ``name`` is empty. ``text`` of a tag is how it
    was written."""

    text: str
    name: str = ""
    closes: bool = False
    empty: bool = False
    attributes: str = ""

    def attribute(self, name: str) -> str:
        """What the tag gives to ``name``; empty where it does not."""
        for found in _ATTRIBUTE.finditer(self.attributes):
            if found[1].lower() == name:
                return decoded(found[2] if found[2] is not None else found[3])
        return ""


def tokens(text: str) -> list[Token]:
    """``text`` in its order; comments are left out."""
    made: list[Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        if found.start() > end:
            made.append(Token(decoded(text[end : found.start()])))
        end = found.end()
        if found["raw"]:
            made.append(Token(found["raw"]))
        elif found["name"]:
            attributes = found["attributes"] or ""
            made.append(
                Token(
                    text=found[0],
                    name=found["name"].lower(),
                    closes=bool(found["close"]),
                    empty=_EMPTY.search(attributes[-20:]) is not None,
                    attributes=attributes,
                )
            )
    if end < len(text):
        made.append(Token(decoded(text[end:])))
    return made


def decoded(text: str) -> str:
    """``text`` with the five entities of XML and numbered characters; others stay as they are.

    >>> decoded("a &lt; b &amp;lt; &bomb;")
    'a < b &lt; &bomb;'
    """
    return _REFERENCE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    if found[3]:
        return _NAMED[found[3].lower()]
    number = int(found[1]) if found[1] else int(found[2], 16)
    return chr(number) if number <= 0x10FFFF else ""
