"""How the bytes of an object become items: JSON, JSON Lines or CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from dataclasses import dataclass

from dcf.asl.errors import ITEM_READER_FAILED, PlainError
from dcf.asl.payload import JSON

DELIMITERS = {"COMMA": ",", "PIPE": "|", "SEMICOLON": ";", "SPACE": " ", "TAB": "\t"}
"""``CSVDelimiter`` by its name."""

MAX_BYTES = 1 << 30
"""Most bytes that a compressed object may unfold to."""


@dataclass(frozen=True, slots=True)
class ItemFormat:
    """``kind`` is CSV, JSON, JSONL, or PARQUET, which is never readable.

    ``headers`` names the columns of a CSV; None: its first row does. ``pointer`` is a JSON pointer
    to the array in a JSON document.
    """

    kind: str
    headers: tuple[str, ...] | None = None
    delimiter: str = ","
    pointer: str = ""

    def parse(self, content: bytes) -> list[JSON]:
        """The items in ``content``. Raises EvaluationError (``States.ItemReaderFailed``)."""
        if self.kind == "PARQUET":
            raise _unreadable("Parquet files are not read here; use CSV or JSON Lines.")
        text = _decode(content)
        try:
            if self.kind == "CSV":
                return self._parse_csv(text)
            if self.kind == "JSONL":
                return [_load(line) for line in text.splitlines() if line.strip()]
            return self._parse_json(text)
        except (ValueError, csv.Error, RecursionError) as error:
            raise _unreadable(f"The file is not valid {self.kind}: {error}") from error

    def _parse_json(self, text: str) -> list[JSON]:
        value = _point(_load(text), self.pointer)
        if not isinstance(value, list):
            raise _unreadable("Attempting to map over non-iterable node.")
        return value

    def _parse_csv(self, text: str) -> list[JSON]:
        rows = (row for row in csv.reader(io.StringIO(text), delimiter=self.delimiter) if row)
        headers = list(self.headers) if self.headers is not None else next(rows, [])
        if len(set(headers)) < len(headers):
            raise _unreadable("CSV headers cannot contain duplicates.")
        count = len(headers)
        return [dict(zip(headers, row + [""] * (count - len(row)), strict=False)) for row in rows]


def _load(text: str) -> JSON:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> JSON:
    raise ValueError(f"{constant} is no JSON")


def _decode(content: bytes) -> str:
    try:
        if content[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                content = stream.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise _unreadable("The file is too large.")
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise _unreadable(f"The file cannot be decoded: {error}") from error


def _point(value: JSON, pointer: str) -> JSON:
    """The part of ``value`` at a JSON pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise _unreadable(f"The ItemsPointer '{pointer}' finds nothing in the file.")
    return value


def _unreadable(cause: str) -> PlainError:
    return PlainError(ITEM_READER_FAILED, cause)
