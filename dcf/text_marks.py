"""The marks that Unicode texts begin with, which say how they are encoded."""

from __future__ import annotations

import codecs

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    # Before that of UTF-16, which it begins with.
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


def unmarked(data: bytes) -> tuple[bytes, str]:
    """``data`` without its mark, and the encoding that the mark names; empty for none."""
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :], name
    return data, ""
