"""A letter of e-mail: who wrote it to whom, and what it says."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import replace
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage
from email.policy import default
from itertools import islice
from typing import Any

from dcf.documents.block import Block, Reading
from dcf.documents.errors import Corrupt
from dcf.documents.formats.html import seen
from dcf.documents.formats.text import paragraphs
from dcf.search import words

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_PARTS = 1_000
"""Parts of one letter that are looked at."""
# Before the value of a parameter: name*=charset'language'value (RFC 2231).
_CHARSET = re.compile(r"\*=\s*[^\s';]*'")


class _Headers(HeaderRegistry):
    """Headers of which the character set of a parameter may be none of texts."""

    def __call__(self, name: str, value: str) -> Any:
        try:
            return super().__call__(name, value)
        except ValueError:
            return super().__call__(name, _CHARSET.sub("*=utf-8'", value))


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The headers that people read, then the text, of HTML what no other text says; of attachments
    their names. Lines are those of what is read. Raises Corrupt."""
    letter = email.message_from_bytes(data, policy=default.clone(header_factory=_Headers()))
    heads = [f"{name}: {letter[name]}" for name in _HEADERS if letter[name]]
    if not heads:
        raise Corrupt(format="mail", reason=f"it has none of {', '.join(_HEADERS)}")
    reading.title = str(letter["Subject"] or "")
    line = len(heads)
    yield Block("text", "\n".join(heads), 1, line)
    for block in _said(letter, reading):
        lines = block.text.count("\n") + 1
        yield replace(block, first_line=line + 2, last_line=line + 1 + lines)
        line += 1 + lines


def _said(letter: EmailMessage, reading: Reading) -> Iterator[Block]:
    names = []
    parts = [part for part in islice(letter.walk(), _PARTS) if not part.is_multipart()]
    known = {
        word for part in parts if _is_text(part, "text/plain") for word in words(_content(part))
    }
    for part in parts:
        if part.is_attachment() or part.get_content_maintype() != "text":
            names.append(part.get_filename() or part.get_content_type())
        elif _is_text(part, "text/plain"):
            yield from paragraphs(_content(part), None)
        elif _is_text(part, "text/html"):
            blocks = seen(_content(part), reading)
            yield from (one for one in blocks if not known.issuperset(words(one.text)))
    if names:
        yield Block("text", "Attachments: " + ", ".join(names))


def _is_text(part: EmailMessage, kind: str) -> bool:
    return part.get_content_type() == kind and not part.is_attachment()


def _content(part: EmailMessage) -> str:
    try:
        text = str(part.get_content())
    except (LookupError, ValueError):
        # A character set that nobody knows, or one that is none of texts.
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return text.replace("\r\n", "\n").replace("\r", "\n")
