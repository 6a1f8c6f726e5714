"""The bytes of a snapshot: lines that are compressed, and an end that answers for all before it.

The file is gzip, and `zcat` shows its lines. The last one has a gzip member of its own, which is
known byte for byte when the rest is: so a byte that is missing or another one is noticed, also one
that no program for gzip looks at.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAGIC = b"\x1f\x8b"
_HEAD = MAGIC + b"\x08\x00\0\0\0\0\x00\xff"
END = b'{"end":'
"""How the last line begins."""
LARGEST = 1 << 30
"""Bytes of lines, unpacked: many more than a file has that we write."""
LONGEST = 1 << 28
"""Bytes of a line: a text and its metadata have 100,000,000 each at most."""
_AT_ONCE = 65_536


@dataclass(frozen=True, slots=True)
class Unsealed:
    """The ``lines`` before the last one, as far as they can be read. Unless the file is as it was
    written, ``why`` says how that shows; ``packed`` is the part that they were read from, ``end``
    what stands behind it."""

    lines: bytes
    packed: bytes
    end: bytes
    why: str | None

    def is_whole(self, counts: Mapping[str, Any]) -> bool:
        """Whether not a bit differs from what was written with these ``counts``."""
        return self.why is None and self.end == _end(self.packed, counts)


def sealed(lines: bytes, counts: Mapping[str, Any]) -> bytes:
    """The file of some ``lines``. The last one has the ``counts`` and the digest."""
    packed = gzip.compress(lines, mtime=0)
    return packed + _end(packed, counts)


def unsealed(data: bytes) -> Unsealed:
    """What can be read of a file, which may be damaged."""
    reader, lines = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), bytearray()
    whole = 0
    for start in range(0, len(data), _AT_ONCE):
        before, part = reader.copy(), data[start : start + _AT_ONCE]
        try:
            more = reader.decompress(part)
        except zlib.error as error:
            lines += _first_bytes(before, part)
            return Unsealed(bytes(lines), data, b"", f"it cannot be unpacked further ({error})")
        if b"\n" in more:
            whole = len(lines) + more.rindex(b"\n") + 1
        lines += more
        if len(lines) - whole > LONGEST:
            why = f"the line has more than {LONGEST:,} bytes, which none has that was written"
            return Unsealed(bytes(lines[:whole]), data, b"", why)
        if len(lines) > LARGEST:
            return Unsealed(b"", data, b"", f"it has more than {LARGEST:,} bytes, unpacked")
        if reader.eof:
            end = len(data) - len(reader.unused_data) - len(data[start + _AT_ONCE :])
            return Unsealed(bytes(lines), data[:end], data[end:], None)
    return Unsealed(bytes(lines), data, b"", "the file ends here")


def _first_bytes(reader: Any, part: bytes) -> bytes:
    """What comes out before the byte that cannot be."""
    lines = bytearray()
    try:
        for at in range(len(part)):
            lines += reader.decompress(part[at : at + 1])
    except zlib.error:
        pass
    return bytes(lines)


def _end(packed: bytes, counts: Mapping[str, Any]) -> bytes:
    digest = hashlib.sha256(packed).hexdigest()
    line = json.dumps({"end": {**counts, "sha256": digest}}, separators=(",", ":")).encode() + b"\n"
    # One block that is stored as it is (RFC 1951, 3.2.4), in a gzip member (RFC 1952).
    stored = b"\x01" + struct.pack("<HH", len(line), len(line) ^ 0xFFFF) + line
    return _HEAD + stored + struct.pack("<II", zlib.crc32(line), len(line))
