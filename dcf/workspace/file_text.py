"""Text of files: a few encodings, and reading a part without cutting a character."""

from __future__ import annotations

import codecs
from typing import Final

from dcf.workspace.errors import FileRefused

ENCODINGS: Final = frozenset(
    ["ascii", "utf-8", "utf-8-sig", "iso8859-1", "iso8859-15", "cp1252"]
    + [f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")]
)


def check_encoding(encoding: str) -> str:
    """The name Python has for ``encoding``. Raises FileRefused ``unknown_encoding``."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    if name not in ENCODINGS:
        known = ", ".join(sorted(ENCODINGS))
        raise FileRefused("unknown_encoding", f"{encoding!r} is none of {known}")
    return name


def decode(data: bytes, encoding: str, *, more: bool) -> tuple[str, int]:
    """The text of ``data`` and how many bytes it took. With ``more`` (the file goes on) an
    incomplete character at the end is left for the next read. Raises FileRefused
    ``decode_failed``."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(data, final=not more)
    except UnicodeError as error:
        raise FileRefused("decode_failed", f"it is no {encoding} from there on: {error}") from error
    return text, len(data) - len(decoder.getstate()[0])


def encode(content: str, encoding: str) -> bytes:
    """``content`` as bytes. Raises FileRefused ``write_failed``."""
    try:
        return content.encode(encoding)
    except UnicodeError as error:
        raise FileRefused("write_failed", f"it cannot be written as {encoding}: {error}") from error
