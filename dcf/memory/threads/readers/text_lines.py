"""Lines of a text that may be large, or cut anywhere."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

LONGEST = 1_000_000
"""Characters of a line; a longer one is read as several."""


def lines_of(chunks: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Each line without its end, and whether it has one. NUL is left out: no memory keeps it."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    rest = ""
    for chunk in chunks:
        *whole, rest = (rest + decoder.decode(chunk).replace("\0", "")).split("\n")
        for line in whole:
            yield line.rstrip("\r"), True
        while len(rest) > LONGEST:
            yield rest[:LONGEST], True
            rest = rest[LONGEST:]
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest, False
