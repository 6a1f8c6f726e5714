"""A passage's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypedDict

from dcf.memory.audit.entity import Row
from dcf.memory.checking import json_of, text_problems
from dcf.memory.passage import NewPassage, Passage
from dcf.problem import Problem

_NAMES = tuple(field.name for field in fields(Passage))


class PassageFields(TypedDict, total=False):
    """What can be changed of a passage."""

    text: str
    tags: tuple[str, ...]
    salience: float


def passage_of(row: Row) -> Passage:
    """The passage in a row."""
    known = {name: row[name] for name in _NAMES}
    known["tags"] = tuple(json.loads(row["tags"]))
    return Passage(**known)


def fields_of(passage: NewPassage | Passage) -> dict[str, Any]:
    """Those fields of a passage that a new one has."""
    return {field.name: getattr(passage, field.name) for field in fields(NewPassage)}


def columns_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of fields without problems."""
    columns = dict(given)
    if "tags" in columns:
        columns["tags"] = json_of(sorted(set(columns["tags"])))
    if "salience" in columns:
        columns["salience"] = float(columns["salience"])
    return columns


def problems(place: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the fields ``given``."""
    if "text" in given:
        yield from text_problems(f"{place}/text", given["text"], filled=True)
    if "source" in given:
        yield from text_problems(f"{place}/source", given["source"])
    for number, tag in enumerate(given.get("tags", ())):
        yield from text_problems(f"{place}/tags/{number}", tag, filled=True)
    # A comparison that NaN fails too.
    if not 0 <= given.get("salience", 0.5) <= 1:
        yield Problem(
            "memory_passage_salience",
            f"salience is {given['salience']}, not between 0 and 1",
            f"{place}/salience",
        )
