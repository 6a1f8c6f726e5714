"""The lines of a run's file, read one by one: whatever the file holds, no more than one line of
``LONGEST_LINE`` is in memory next to what was made of the others."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from control_plane.errors import ControlPlaneError

LONGEST_LINE = 128 * 1024 * 1024
MOST_LINES = 2_000_000
"""Bytes of a line, and lines of a file."""
_SHORT_LINE = 1024  # the first and the last
_STEP = 1024 * 1024
# As they are written, and read without making more of them than two texts.
_STRING = rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
_PART = re.compile(
    rb'\{"kind":(%b),"name":(%b),"text":(%b)\}' % (_STRING, _STRING, _STRING), re.DOTALL
)
_META = re.compile(rb'\{"meta":(%b)\}' % _STRING, re.DOTALL)


class BadRunFile(ControlPlaneError):
    """{where}: {why}."""

    # Fields: where, the line or the part that is wrong; why.
    code = "bad_run_file"


def check_size(data: bytes, largest: int) -> None:
    """Raises BadRunFile for a file that is damaged or cut off, or has more than ``largest`` bytes
    of content."""
    size = 0
    with _opened(data) as stream:
        while chunk := stream.read(_STEP):
            size += len(chunk)
            if size > largest:
                raise BadRunFile(
                    where="the file", why=f"its content has more than {largest:,} bytes"
                )
    if not size:
        raise BadRunFile(where="the file", why="it is damaged: there is nothing in it")


def read_lines(data: bytes) -> Iterator[bytes]:
    """All lines but the last, which holds the digest of these and is checked after them. Raises
    BadRunFile."""
    digest, number, held = hashlib.sha256(), 0, b""
    with _opened(data) as stream:
        while line := stream.readline((LONGEST_LINE if number else _SHORT_LINE) + 1):
            if number:
                digest.update(held)
                yield held[:-1]
            held, number = line, number + 1
            _check_line(line, number)
    if number < 4:
        raise BadRunFile(where="the file", why="this is not an exported run")
    end = record(held[:-1], number) if len(held) <= _SHORT_LINE else None
    if end != {"lines": number - 1, "sha256": digest.hexdigest()}:
        raise BadRunFile(where=f"line {number}", why="its digest does not fit: it was changed")


def record(line: bytes, number: int) -> dict[str, Any]:
    """The object in a short line. Raises BadRunFile."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRunFile(where=f"line {number}", why=f"it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise BadRunFile(where=f"line {number}", why="it is not a JSON object")
    return value


def part_texts(line: bytes, number: int) -> tuple[str, str, str]:
    """Kind, name and text of a part. Raises BadRunFile."""
    kind, name, text = _texts(_PART, line, number, "a part of a run: {kind, name, text}")
    return kind, name, text


def meta_text(line: bytes) -> str:
    """The document of the run. Raises BadRunFile."""
    [text] = _texts(_META, line, 2, "the document of a run: {meta}")
    return text


def _texts(form: re.Pattern[bytes], line: bytes, number: int, what: str) -> list[str]:
    match = form.fullmatch(line)
    if match is None:
        raise BadRunFile(where=f"line {number}", why=f"it is not {what}, each a text")
    try:
        texts = [str(json.loads(one)) for one in match.groups()]
        for text in texts:
            # `\ud800` alone is JSON, and no text that could be stored.
            text.encode()
    except ValueError as error:
        raise BadRunFile(where=f"line {number}", why=f"it is not {what} ({error})") from error
    return texts


def _check_line(line: bytes, number: int) -> None:
    if number == 1 and len(line) > _SHORT_LINE:
        why = f"this is not an exported run: the first line has more than {_SHORT_LINE:,} bytes"
    elif number > MOST_LINES:
        why = f"the file has more than {MOST_LINES:,} lines"
    elif len(line) > LONGEST_LINE:
        why = f"it has more than {LONGEST_LINE:,} bytes"
    elif not line.endswith(b"\n"):
        why = "this is not an exported run: the line does not end"
    else:
        return
    raise BadRunFile(where=f"line {number}", why=why)


@contextmanager
def _opened(data: bytes) -> Iterator[gzip.GzipFile]:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            yield stream
    except EOFError as error:
        raise BadRunFile(where="the file", why="it is damaged: its end is missing") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        why = f"this is not an exported run, or it is damaged ({error})"
        raise BadRunFile(where="the file", why=why) from error
