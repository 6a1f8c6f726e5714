"""The fields of nodes and entries, and their columns."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypedDict
from urllib.parse import quote

from dcf.memory.audit.entity import Row
from dcf.memory.checking import MOMENTS, data_problems, json_of, refuse, text_problems
from dcf.memory.node import NewEntry, NewNode, Node, NodeEntry
from dcf.problem import Problem

_MOST = sys.float_info.max
_LONGEST = 500
"""Characters of a checkpoint's and of a node's name."""
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class NodeFields(TypedDict, total=False):
    """What can be changed of a node."""

    title: str
    score: float | None
    metadata: Mapping[str, Any]


class EntryFields(TypedDict, total=False):
    """What can be changed of an entry."""

    text: str
    kind: str
    metadata: Mapping[str, Any]


def node_of(row: Row) -> Node:
    """The node in a row."""
    known = {field.name: row[field.name] for field in fields(Node)}
    return Node(**{**known, "metadata": json.loads(row["metadata"])})


def node_entry_of(row: Row) -> NodeEntry:
    """The entry in a row."""
    known = {field.name: row[field.name] for field in fields(NodeEntry)}
    return NodeEntry(**{**known, "metadata": json.loads(row["metadata"])})


def address_of(project: str, checkpoint: str, name: str) -> str:
    """What no two nodes have alike."""
    return f"{quote(project, safe='')}/{quote(checkpoint, safe='')}/{name}"


def new_columns(new: NewNode) -> dict[str, Any]:
    """The columns of a new node but for its parent. Raises InvalidEntry with all that is wrong."""
    given: NodeFields = {"title": new.title, "score": new.score, "metadata": new.metadata}
    refuse("the node", _name_problems(new))
    return {
        "project": new.project,
        "checkpoint": new.checkpoint,
        "name": new.name,
        "address": address_of(new.project, new.checkpoint, new.name),
        **node_columns(given),
    }


def node_columns(given: NodeFields) -> dict[str, Any]:
    """The columns of a node's fields. Raises InvalidEntry with all that is wrong."""
    refuse("the node", _node_problems(given))
    columns: dict[str, Any] = dict(given)
    if columns.get("score") is not None:
        columns["score"] = float(columns["score"])
    return _with_metadata(columns)


def entry_columns(given: EntryFields, place: str = "") -> dict[str, Any]:
    """The columns of an entry's fields. Raises InvalidEntry with all that is wrong."""
    refuse("the entry", entry_problems(given, place))
    return _with_metadata(dict(given))


def fields_of(new: NewEntry) -> EntryFields:
    """A new entry's fields."""
    return {"text": new.text, "kind": new.kind, "metadata": new.metadata}


def entry_problems(given: Mapping[str, Any], place: str = "") -> Iterator[Problem]:
    """What is wrong with the fields of an entry at ``place``."""
    yield from _unknown("an entry", given, EntryFields, place)
    if "text" in given:
        yield from text_problems(f"{place}/text", given["text"], filled=True)
    if "kind" in given and not _KIND.fullmatch(given["kind"]):
        yield Problem(
            "memory_entry_kind",
            f"the kind {given['kind']!r} is no name",
            f"{place}/kind",
            "small letters, digits, - and _, from a letter on, 64 at most",
        )
    if "metadata" in given:
        yield from data_problems(f"{place}/metadata", given["metadata"])


def time_problems(at: int | None, place: str) -> Iterator[Problem]:
    """What is wrong with the time that an entry at ``place`` is said to be of."""
    if at is not None and at not in MOMENTS:
        message = f"the time {at} is not in the years 1 to 9999"
        yield Problem("memory_entry_time", message, f"{place}/at", "ms since the epoch, UTC")


def _node_problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _unknown("a node", given, NodeFields, "")
    if "title" in given:
        yield from text_problems("/title", given["title"])
    score = given.get("score")
    # Python has integers beyond all that a file of numbers can keep.
    if score is not None and not (isinstance(score, (int, float)) and abs(score) <= _MOST):
        shown = str(score)[:40] if isinstance(score, float) else "too large, or no number"
        yield Problem("memory_node_score", f"the score is {shown}, no finite number", "/score")
    if "metadata" in given:
        yield from data_problems("/metadata", given["metadata"])


def _name_problems(new: NewNode) -> Iterator[Problem]:
    yield from text_problems("/project", new.project, filled=True)
    for field, text in (("checkpoint", new.checkpoint), ("name", new.name)):
        yield from text_problems(f"/{field}", text, filled=True)
        if len(text) > _LONGEST or not text.isprintable():
            yield Problem(
                "memory_node_name",
                f"the {field} has {len(text):,} characters, or some that cannot be shown",
                f"/{field}",
                f"at most {_LONGEST} characters on one line",
            )
    if "/" in new.checkpoint:
        message = f"the checkpoint {new.checkpoint!r} has a slash, which ends it in CHECKPOINT/NAME"
        yield Problem("memory_node_name", message, "/checkpoint", "write it without")


def _unknown(what: str, given: Mapping[str, Any], known: type, place: str) -> Iterator[Problem]:
    for name in sorted(given.keys() - known.__annotations__.keys()):
        yield Problem("memory_node_field", f"{what} has no field {name}", f"{place}/{name}")


def _with_metadata(columns: dict[str, Any]) -> dict[str, Any]:
    if "metadata" in columns:
        columns["metadata"] = json_of(columns["metadata"])
    return columns
