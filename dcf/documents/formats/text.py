"""Plain text: from bytes to characters, and to what stands between empty lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcf.documents.block import Block, Reading
from dcf.documents.errors import NotText, TooMuchText
from dcf.secret_form import without_secrets
from dcf.text_marks import unmarked

_NONE = "\ufffd"
_MARKED_UP = ("html", "notebook")
"""Formats of which far less text may come than is in their files."""


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The paragraphs of a text. Raises NotText."""
    yield from paragraphs(decoded(data, reading))


def paragraphs(text: str, first: int | None = 1, page: int | None = None) -> Iterator[Block]:
    """The paragraphs of ``text``, whose first line has the number ``first``; None: it has none."""
    lines = text.split("\n")
    begun: int | None = None
    for row in range(len(lines) + 1):
        blank = row == len(lines) or not lines[row].strip()
        if blank and begun is not None:
            block = Block("text", "\n".join(lines[begun:row]), page=page)
            if first is not None:
                block = replace(block, first_line=first + begun, last_line=first + row - 1)
            yield block
            begun = None
        elif not blank and begun is None:
            begun = row


def decoded(data: bytes, reading: Reading) -> str:
    """``data`` as text without secrets, its lines ended by newlines alone. UTF-8, or UTF-16 or
    UTF-32 with the mark of that. Raises NotText, TooMuchText."""
    text = _text(data, reading)
    # Before secrets are looked for, which takes most of the time.
    if len(text) > reading.most and reading.format not in _MARKED_UP:
        raise TooMuchText(most=reading.most)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_secrets(plain, keep_lines=True, is_table=reading.format == "csv")


def _text(data: bytes, reading: Reading) -> str:
    unmarked_data, name = unmarked(data)
    if name:
        return unmarked_data.decode(name, "replace")
    at = data.find(b"\0")
    if at >= 0:
        raise NotText(format=reading.format, at=at)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text, told = _undecoded(data)
        message = f"it is no UTF-8 from line {line:,} on: {told}"
        reading.warn("document_encoding", message, "save it as UTF-8")
        return text


def _undecoded(data: bytes) -> tuple[str, str]:
    """What is no UTF-8, as text, and how it was read. Where nothing but ASCII is, it was hardly
    meant to be UTF-8."""
    text = data.decode("utf-8", "replace")
    if text.replace(_NONE, "").isascii():
        return data.decode("cp1252", "replace"), "it is read as Windows-1252 (Latin-1)"
    return text, f"the bytes that are none are read as {_NONE}"
