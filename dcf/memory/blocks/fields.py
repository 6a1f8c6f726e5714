"""A block's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import chain
from typing import Any, TypedDict, get_args

from dcf.memory.audit.entity import Row
from dcf.memory.block import Block, BlockType, NewBlock, OnLimit, Provenance
from dcf.memory.checking import data_problems, json_of, refuse, text_problems
from dcf.problem import Problem

_CHOICES = {"type": BlockType, "on_limit": OnLimit, "provenance": Provenance}


class BlockFields(TypedDict, total=False):
    """What can be changed of a block beside its text."""

    description: str
    type: BlockType
    soft_limit: int | None
    hard_limit: int | None
    on_limit: OnLimit
    read_only: bool
    project: str | None
    metadata: Mapping[str, Any]


def block_of(row: Row, *, label: str | None = None, warning: str | None = None) -> Block:
    """The block in a row; ``label`` is what it is for the agent that asks."""
    columns = {
        field.name: row[field.name]
        for field in fields(Block)
        if field.name not in ("label", "warning")
    }
    columns["read_only"] = bool(row["read_only"])
    columns["metadata"] = json.loads(row["metadata"])
    return Block(**columns, label=label or row["label"], warning=warning)


def new_columns(new: NewBlock) -> dict[str, Any]:
    """The columns of a new block. Raises InvalidEntry with all that is wrong."""
    given = {field.name: getattr(new, field.name) for field in fields(new)}
    refuse(f"block {new.label!r}", _problems(given, given))
    return _columns(given)


def changed_columns(row: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the fields ``given``, which change ``row``. Raises InvalidEntry with all that
    is wrong."""
    unknown = (
        Problem("memory_block_field", f"{name} cannot be changed so", f"/{name}")
        for name in sorted(given.keys() - BlockFields.__annotations__.keys())
    )
    refuse(f"block {row['label']!r}", chain(unknown, _problems(given, {**row, **given})))
    return _columns(given)


def refuse_text(row: Row, text: str) -> None:
    """Raises InvalidEntry unless ``text`` can be kept in a block."""
    refuse(f"block {row['label']!r}", text_problems("/value", text))


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    columns = dict(given)
    if "read_only" in columns:
        columns["read_only"] = int(columns["read_only"])
    if "metadata" in columns:
        columns["metadata"] = json_of(columns["metadata"])
    return columns


def _problems(given: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[Problem]:
    if "label" in given:
        yield from text_problems("/label", given["label"], filled=True)
    for name in ("value", "description", "project"):
        if given.get(name) is not None:
            yield from text_problems(f"/{name}", given[name])
    if "metadata" in given:
        yield from data_problems("/metadata", given["metadata"])
    for name, choice in _CHOICES.items():
        if name in given and given[name] not in get_args(choice):
            known = ", ".join(get_args(choice))
            yield Problem(
                f"memory_block_{name}", f"{name} is {given[name]!r}, not {known}", f"/{name}"
            )
    yield from _limit_problems(whole)


def _limit_problems(whole: Mapping[str, Any]) -> Iterator[Problem]:
    soft, hard = whole.get("soft_limit"), whole.get("hard_limit")
    for name, limit in (("soft_limit", soft), ("hard_limit", hard)):
        if limit is not None and limit < 0:
            yield Problem("memory_block_limit", f"{name} is less than 0 bytes", f"/{name}")
    if soft is not None and hard is not None and soft > hard:
        yield Problem(
            "memory_block_limit",
            f"soft_limit ({soft:,}) is more than hard_limit ({hard:,})",
            "/soft_limit",
        )
