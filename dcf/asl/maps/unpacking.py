"""Objects that are compressed (gzip), unpacked within a bound."""

from __future__ import annotations

import gzip
import io
import zlib

from dcf.asl.errors import ITEM_READER_FAILED, PlainError

MAX_BYTES = 1 << 28
"""Most bytes that the compressed objects of one ItemReader may unpack to, all together."""

_CHUNK = 1 << 20
_MAGIC = b"\x1f\x8b"


def unpack(contents: tuple[bytes, ...]) -> list[bytes]:
    """``contents`` with those that are compressed unpacked.

    Stops soon after ``MAX_BYTES``, however much more there would be. Raises EvaluationError
    (``States.ItemReaderFailed``).
    """
    room = MAX_BYTES
    plain: list[bytes] = []
    for content in contents:
        if content.startswith(_MAGIC):
            content = _unpack(content, room)
            room -= len(content)
        plain.append(content)
    return plain


def _unpack(content: bytes, room: int) -> bytes:
    pieces = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            while piece := stream.read(_CHUNK):
                pieces += piece
                if len(pieces) > room:
                    cause = f"The compressed files unpack to more than {MAX_BYTES} bytes."
                    raise PlainError(ITEM_READER_FAILED, cause)
    except (OSError, EOFError, zlib.error) as error:
        cause = f"The file cannot be decoded: {error}"
        raise PlainError(ITEM_READER_FAILED, cause) from error
    return bytes(pieces)
