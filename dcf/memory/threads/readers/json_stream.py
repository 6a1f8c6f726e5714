"""JSON values of a file that may be large, or cut anywhere: lines with one each, an array of them,
or one document.

Of a line that is cut nothing is read. Of a document, or the last element of an array, that is cut
all is read that is whole: the elements of its members up to the cut.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from dcf.memory.threads.readers.tally import Tally

LARGEST = 268_435_456
"""Characters of one value: what is longer is passed over, and said to be so."""

_ESCAPE = "\\u"
_SPACE = re.compile(r"[\s,]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?P<end>"|\\?\Z)|[\[\]{},]', re.DOTALL)
"""Strings, whole or cut, and what opens, parts and closes."""
_LOOKED_AT = 20
"""Lines that say whether each has an object."""
_CLOSING = {"{": "}", "[": "]"}
_SHALLOW = 2
"""Where the elements of a document's members are: a message is whole or not there."""
_DECODER = json.JSONDecoder(parse_constant=str)
"""NaN and the like are no JSON, but some programs write them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A JSON object of a file, and the line (from 1) on which it begins."""

    line: int
    value: Mapping[str, Any]


def entries(chunks: Iterable[bytes], tally: Tally) -> Iterator[Entry]:
    """The objects of a file that is read in ``chunks``."""
    text = _decoded(chunks)
    begun = ""
    for part in text:
        begun += part
        if begun.strip() and (begun.count("\n") >= _LOOKED_AT or len(begun) > LARGEST):
            break
    everything = chain([begun], text)
    opening = begun.lstrip()[:1]
    lines = begun.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    if opening == "[":
        yield from _of_array(everything, tally)
    elif opening == "{" and not any(line[:1] == "{" and _parsed(line) for line in lines):
        yield from _of_document(everything, tally)
    else:
        yield from _of_lines(everything, tally)


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _of_lines(text: Iterable[str], tally: Tally) -> Iterator[Entry]:
    number = 0
    for number, line, ended in _lines(text, tally):
        values, rest = _objects(line)
        yield from (Entry(number, value) for value in values)
        if not rest:
            continue
        if not ended:
            message = "the last line is not complete: it will be read when it is"
            tally.report("transcript-cut", message, line=number, cut=True)
        else:
            hint = "it was passed over; each line has to be one JSON object"
            message = f"what begins with {rest[:40]!r} is no JSON object"
            tally.report("transcript-line", message, hint=hint, line=number)


def _objects(line: str) -> tuple[list[Any], str]:
    """The objects of a line, and what is none. Where a program died while it wrote, another one may
    have gone on in the same line."""
    value = _parsed(line)
    if isinstance(value, dict):
        return [value], ""
    found: list[Any] = []
    at = _skip(line, 0)
    while at < len(line):
        try:
            value, at = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            return found, line.strip()
        found.append(_keepable(value))
        at = _skip(line, at)
    return found, line[at:].strip()


def _lines(text: Iterable[str], tally: Tally) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number, and whether it is ended."""
    number, begun, length = 1, list[str](), 0
    for part in text:
        *whole, rest = part.split("\n")
        for line in whole:
            if length <= LARGEST:
                yield number, "".join((*begun, line)), True
            number, begun, length = number + 1, [], 0
        length += len(rest)
        if length <= LARGEST:
            begun.append(rest)
        elif begun:
            begun = []
            tally.report("transcript-long", f"it has more than {LARGEST:,} characters", line=number)
    if length <= LARGEST and begun:
        yield number, "".join(begun), False


def _of_array(text: Iterable[str], tally: Tally) -> Iterator[Entry]:
    parts = iter(text)
    buffer, line, need = next(parts).lstrip()[1:], 1, 0
    while True:
        begin = _SPACE.match(buffer)
        start = begin.end() if begin else 0
        if buffer[start : start + 1] == "]":
            return
        try:
            if len(buffer) < need:
                raise ValueError
            value, end = _DECODER.raw_decode(buffer, start)
            # A number at the end may go on in the next part.
            if end == len(buffer):
                raise ValueError
        except (ValueError, RecursionError):
            # Twice as much before the next try: a long element is not read again and again.
            need = max(2 * (len(buffer) - start), 1)
            more = "".join(_until(parts, need))
            if not more:
                yield from _salvaged(buffer[start:], line, tally)
                return
            buffer += more
            need = 0
            continue
        line += buffer.count("\n", 0, start)
        if isinstance(value, dict):
            yield Entry(line, _keepable(value) if _ESCAPE in buffer[start:end] else value)
        else:
            tally.report("transcript-element", "it is no JSON object", line=line)
        line += buffer.count("\n", start, end)
        buffer = buffer[end:]


def _until(parts: Iterator[str], size: int) -> Iterator[str]:
    for part in parts:
        yield part
        size -= len(part)
        if size <= 0:
            return


def _of_document(text: Iterable[str], tally: Tally) -> Iterator[Entry]:
    parts, length = [], 0
    for part in text:
        parts.append(part)
        length += len(part)
        if length > LARGEST:
            tally.report("transcript-long", f"it has more than {LARGEST:,} characters", line=1)
            return
    whole = "".join(parts)
    value = _parsed(whole)
    if isinstance(value, dict):
        yield Entry(1, value)
        return
    # Objects over several lines each, one after the other, or a document that is cut.
    begun, at = False, len(whole) - len(whole.lstrip())
    while at < len(whole):
        try:
            found, end = _DECODER.raw_decode(whole, at)
        except (ValueError, RecursionError):
            break
        if isinstance(found, dict):
            yield Entry(whole.count("\n", 0, at) + 1, _keepable(found))
        begun, at = True, _skip(whole, end)
    if at < len(whole):
        line = whole.count("\n", 0, at) + 1
        if begun and whole[at] not in "{[":
            tally.report("transcript-line", "it is no JSON object", line=line)
            return
        yield from _salvaged(whole[at:], line, tally)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _salvaged(text: str, line: int, tally: Tally) -> Iterator[Entry]:
    """What is whole of an object that is cut."""
    if not text.strip():
        message = "the file is not complete: it will be read again when it is"
        tally.report("transcript-cut", message, line=line, cut=True)
        return
    stack, kept = list[str](), ""
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if token["end"] == "" or token["end"] == "\\":
            break
        if sign in _CLOSING:
            stack.append(sign)
        elif sign in "]}":
            if not stack or _CLOSING[stack[-1]] != sign:
                break
            stack.pop()
        if len(stack) <= _SHALLOW and sign in ",]}":
            end = token.start() if sign == "," else token.end()
            kept = text[:end] + "".join(_CLOSING[one] for one in reversed(stack))
            if not stack:
                break
    value = _parsed(kept)
    message = "it is not complete, or no JSON from here on: what was whole was read"
    if not isinstance(value, dict):
        value, message = None, "it is not complete, or no JSON"
    tally.report("transcript-cut", message, line=line + kept.count("\n"), cut=True)
    if value is not None:
        yield Entry(line, value)


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=str)
        return _keepable(value) if _ESCAPE in text or "\0" in text else value
    # Lists in lists in lists, a hundred thousand deep.
    except (ValueError, RecursionError):
        return None


def _keepable(value: Any) -> Any:
    """``value`` without what only an escape can bring into a text and no memory keeps: NUL, and
    halves of surrogate pairs."""
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="replace").decode()
    if isinstance(value, list):
        return [_keepable(one) for one in value]
    if isinstance(value, dict):
        return {_keepable(name): _keepable(one) for name, one in value.items()}
    return value
