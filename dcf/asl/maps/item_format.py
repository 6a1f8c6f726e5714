"""How the bytes of an object become items: JSON, JSON Lines or CSV."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from dcf.asl.errors import ITEM_READER_FAILED, PlainError
from dcf.asl.maps.csv_rows import read_rows
from dcf.asl.payload import JSON, MAX_DEPTH, depth_exceeds
from dcf.asl.reading.json_places import MAX_DIGITS

DELIMITERS = {"COMMA": ",", "PIPE": "|", "SEMICOLON": ";", "SPACE": " ", "TAB": "\t"}
"""``CSVDelimiter`` by its name."""

_BLANK = " \t\r"
_INDEX = re.compile("[0-9]{1,9}")


class Members(list[JSON]):
    """The members of an object as the items of a distributed Map, each ``{Key, Value}``."""

    @classmethod
    def of(cls, value: dict[str, JSON]) -> Members:
        return cls({"Key": key, "Value": member} for key, member in value.items())


@dataclass(frozen=True, slots=True)
class ItemFormat:
    """``kind`` is CSV, JSON, JSONL, or PARQUET, which is never readable.

    ``headers`` names the columns of a CSV; None: its first row does. ``pointer`` is a JSON pointer
    to the array or object in a JSON document.
    """

    kind: str
    headers: tuple[str, ...] | None = None
    delimiter: str = ","
    pointer: str = ""

    def parse(self, content: bytes) -> list[JSON]:
        """The items in ``content``, which is not compressed.

        Raises EvaluationError (``States.ItemReaderFailed``).
        """
        if self.kind == "PARQUET":
            raise _unreadable("Parquet files are not read here; use CSV or JSON Lines.")
        text = _decode(content)
        try:
            if self.kind == "CSV":
                return self._parse_csv(text)
            if self.kind == "JSONL":
                return _checked([_load(line) for line in lines(text)])
            return _checked(self._parse_json(text))
        except RecursionError as error:
            cause = f"The file is not valid {self.kind}: it nests deeper than {MAX_DEPTH}."
            raise _unreadable(cause) from error
        except ValueError as error:
            raise _unreadable(f"The file is not valid {self.kind}: {error}") from error

    def _parse_json(self, text: str) -> list[JSON]:
        value = _point(_load(text), self.pointer)
        if isinstance(value, dict):
            return Members.of(value)
        if not isinstance(value, list):
            raise _unreadable("Attempting to map over non-iterable node.")
        return value

    def _parse_csv(self, text: str) -> list[JSON]:
        rows = read_rows(text, self.delimiter)
        headers = list(self.headers) if self.headers is not None else next(rows, [])
        if len(set(headers)) < len(headers):
            raise _unreadable("CSV headers cannot contain duplicates.")
        count = len(headers)
        return [dict(zip(headers, row + [""] * (count - len(row)), strict=False)) for row in rows]


def lines(text: str) -> list[str]:
    """The lines of ``text`` that are not blank, without what is blank around them.

    Only a newline ends a line: other separators of Unicode may stand inside JSON texts.
    """
    return [line for line in (raw.strip(_BLANK) for raw in text.split("\n")) if line]


def _load(text: str) -> JSON:
    return _DECODER.decode(text)


def _readable_integer(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > MAX_DIGITS:
        raise ValueError(f"an integer has {digits} digits, and {MAX_DIGITS} is the most")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is beyond double precision")
    return number


def _checked(items: list[JSON]) -> list[JSON]:
    if depth_exceeds(items, MAX_DEPTH + 1):  # the array of the items is one level more
        raise ValueError(f"an item nests deeper than {MAX_DEPTH}")
    return items


def _refuse(constant: str) -> JSON:
    raise ValueError(f"{constant} is no JSON")


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cause = f"The file is not text in UTF-8: see its byte {error.start}."
        raise _unreadable(cause) from error


def _point(value: JSON, pointer: str) -> JSON:
    """The part of ``value`` at a JSON pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise _unreadable(f"The ItemsPointer '{pointer}' finds nothing in the file.")
    return value


def _unreadable(cause: str) -> PlainError:
    return PlainError(ITEM_READER_FAILED, cause)


# One for all: making a decoder costs more than reading a line with it.
_DECODER = json.JSONDecoder(
    parse_constant=_refuse, parse_float=_finite, parse_int=_readable_integer
)
