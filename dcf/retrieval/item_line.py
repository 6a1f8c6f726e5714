"""A line of a file of logged items: an item, or that one is gone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeVar

from dcf.retrieval.item import Item

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Gone:
    """The item of an earlier line is not to be found any more, since ``timestamp`` (ms); ``over``:
    because its time was over, not because somebody had it forgotten."""

    item_id: str
    timestamp: int
    over: bool = False


def line_of(record: Item | Gone) -> bytes:
    """The record as one line of JSON, with its end."""
    if isinstance(record, Gone):
        fields = {"gone": record.item_id, "timestamp": record.timestamp}
        fields |= {"over": True} if record.over else {}
    else:
        fields = {
            "id": record.id,
            "text": record.text,
            "tags": list(record.tags),
            "source": record.source,
            "filePath": record.file_path,
            "timestamp": record.timestamp,
        }
    return f"{json.dumps(fields, ensure_ascii=False)}\n".encode()


def record_in(line: bytes) -> Item | Gone:
    """The record in a line. Raises ValueError with what is wrong."""
    try:
        fields = json.loads(line)
    except RecursionError as error:
        raise ValueError("its JSON is too deep") from error
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")
    timestamp = _typed(fields, "timestamp", int)
    if "gone" in fields:
        return Gone(_typed(fields, "gone", str), timestamp, fields.get("over") is True)
    tags = _typed(fields, "tags", list)
    if not all(isinstance(tag, str) for tag in tags):
        raise ValueError("its tags are not all text")
    return Item(
        _typed(fields, "id", str),
        _typed(fields, "text", str),
        tuple(tags),
        _text_or_none(fields, "source"),
        _text_or_none(fields, "filePath"),
        timestamp,
    )


def _typed(fields: dict[str, object], name: str, kind: type[Made]) -> Made:
    value = fields.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"its {name} is no {kind.__name__}")
    return value


def _text_or_none(fields: dict[str, object], name: str) -> str | None:
    return None if fields.get(name) is None else _typed(fields, name, str)
