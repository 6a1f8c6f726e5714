"""The process that reads documents: what hangs in it, or takes all memory, is ended with it.

It writes no file. A request is its size in 8 bytes, then a line of
JSON (path and format), then the bytes of the document; so is an answer, of JSON alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, BinaryIO

from dcf.documents.block import Block, Reading, redacted
from dcf.documents.errors import (
    Corrupt,
    DocumentProblem,
    NoText,
    TooDeep,
    TooManyPieces,
    TooMuchMemory,
    TooMuchText,
)
from dcf.documents.formats import pager, parser
from dcf.documents.piece import ReadDocument, pieces_of
from dcf.secret_form import without_secrets

_LONGEST_TITLE = 300
_SIZE = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """``seconds`` of processor time for one document, ``megabytes`` of memory of the process that
    reads it, its program included, and ``characters`` of text and ``pieces`` that come of it."""

    seconds: float = 30.0
    megabytes: int = 1_024
    characters: int = 16_000_000
    pieces: int = 100_000


def main() -> None:
    """Answer until nobody asks any more."""
    limits = ResourceLimits(**json.loads(sys.argv[-1]))
    requests, answers = sys.stdin.buffer, _only_answers()
    _set_limits(limits)
    while head := requests.read(_SIZE.size):
        request = requests.read(_SIZE.unpack(head)[0])
        about, _, data = request.partition(b"\n")
        answer = json.dumps(_answer(json.loads(about), data, limits)).encode()
        answers.write(_SIZE.pack(len(answer)) + answer)
        answers.flush()


def _only_answers() -> BinaryIO:
    """Where answers go; what a parser prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answers


def _set_limits(limits: ResourceLimits) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    memory = limits.megabytes * 1_000_000
    # A system without such a limit (macOS) has the others.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _answer(about: dict[str, str], data: bytes, limits: ResourceLimits) -> dict[str, Any]:
    try:
        # The system ends this process when the time is up.
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)
        if about.get("as") == "page":
            return {"page": page_of(about["format"], data, limits)}
        return asdict(read(about["path"], about["format"], data, limits))
    except DocumentProblem as error:
        return _refused(error)
    except MemoryError:
        return _refused(TooMuchMemory(megabytes=limits.megabytes))
    except RecursionError:
        return _refused(TooDeep())
    except Exception as error:  # noqa: BLE001 - what is damaged lets parsers fail with anything
        reason = f"{type(error).__name__}: {error}"[:300]
        return _refused(Corrupt(format=about["format"], reason=without_secrets(reason)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def read(path: str, format: str, data: bytes, limits: ResourceLimits) -> ReadDocument:
    """The document in ``data``. Raises a DocumentProblem, and whatever its parser raises."""
    reading = Reading(path, format, limits.characters)
    blocks = list(_bounded(parser(format)(data, reading), limits.characters))
    # Before secrets are looked for, which takes most of the time.
    _check_count(blocks, limits.pieces)
    pieces = tuple(pieces_of(redacted(blocks)))
    if not pieces:
        raise NoText()
    title = without_secrets(_plain(" ".join(reading.title.split())))[:_LONGEST_TITLE]
    return ReadDocument(title, format, pieces, reading.pages, tuple(reading.problems))


def _check_count(blocks: list[Block], most: int) -> None:
    """Raise TooManyPieces if more would come of ``blocks``: each is of one block at least, unless
    that is long."""
    if len(blocks) <= most:
        return
    if next(islice(pieces_of(blocks), most, None), None) is not None:
        raise TooManyPieces(most=most)


def page_of(format: str, data: bytes, limits: ResourceLimits) -> str:
    """The document in ``data`` as HTML, as it is written: secrets are not looked for. Raises a
    DocumentProblem, and whatever its parser raises."""
    rows: list[str] = []
    size = 0
    for row in pager(format)(data, limits.characters):
        rows.append(_plain(row))
        size += len(row)
        if size > limits.characters:
            raise TooMuchText(most=limits.characters)
    return "\n".join(rows)


def _bounded(blocks: Iterator[Block], most: int) -> Iterator[Block]:
    size = 0
    for block in blocks:
        size += len(block.text)
        if size > most:
            raise TooMuchText(most=most)
        yield replace(block, text=_plain(block.text))


def _plain(text: str) -> str:
    """``text`` as memory keeps it: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def _refused(error: DocumentProblem) -> dict[str, Any]:
    return {"refused": [error.code, str(error), error.hint]}


if __name__ == "__main__":
    main()
