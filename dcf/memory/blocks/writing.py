"""Changing a block. Each function takes the block's row as this transaction read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.memory.audit.clean_text import clean, clean_change
from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block
from dcf.memory.blocks.errors import ReadOnlyBlock, TextNotFound, TextNotUnique
from dcf.memory.blocks.fields import block_of, changed_columns, refuse_text
from dcf.memory.blocks.limits import fit
from dcf.memory.entities import BLOCK
from dcf.memory.errors import RevisionConflict


def write_block(
    journal: Journal,
    row: dict[str, Any],
    value: str,
    *,
    agent_id: str | None = None,
    label: str | None = None,
    expected: int | None = None,
    as_owner: bool = False,
    fields: Mapping[str, Any] | None = None,
) -> Block:
    """The block with the text ``value``, which agent ``agent_id`` gave it under ``label``, and with
    ``fields`` changed, whose limits hold for this text already.

    ``as_owner`` is for the parts of DCF that keep read-only blocks. The same text again is no
    change. Raises RevisionConflict, ReadOnlyBlock, InvalidEntry, OverLimit.
    """
    refuse_stale(row, expected)
    refuse_read_only(row, "writing", as_owner)
    value = clean_change(row["value"], value)
    refuse_text(row, value)
    columns = changed_columns(row, fields) if fields else {}
    fitted = fit({**row, **columns}, value)
    columns["value"] = fitted.text
    return _written(journal, row, columns, agent_id, label, fitted.warning)


def change_block(
    journal: Journal,
    row: dict[str, Any],
    fields: Mapping[str, Any],
    *,
    agent_id: str | None = None,
    label: str | None = None,
    expected: int | None = None,
    as_owner: bool = False,
) -> Block:
    """The block with ``fields`` changed, which are not its text. The text stays as it is, even over
    a new limit. Raises RevisionConflict, ReadOnlyBlock, InvalidEntry."""
    refuse_stale(row, expected)
    refuse_read_only(row, "changing", as_owner)
    columns = changed_columns(row, fields)
    return _written(journal, row, columns, agent_id, label, None)


def appended(before: str, text: str) -> str:
    """``text`` on a new line behind ``before``."""
    return f"{before}\n{text}" if before and not before.endswith("\n") else before + text


def replaced(label: str, before: str, old: str, new: str) -> str:
    """``before`` with the one place where it says ``old`` saying ``new``. Who saw a secret before
    it was taken out may say ``old`` with it.

    Raises TextNotFound, TextNotUnique.
    """
    old = old if old in before else clean(old)
    count = before.count(old) if old else 0
    if count == 0:
        raise TextNotFound(label=label, text=_short(old))
    if before.find(old, before.find(old) + 1) != -1:
        raise TextNotUnique(label=label, text=_short(old), count=max(count, 2))
    return before.replace(old, new)


def refuse_stale(row: Mapping[str, Any], expected: int | None) -> None:
    """Raises RevisionConflict unless the block has the expected revision."""
    if expected is not None and row["revision"] != expected:
        raise RevisionConflict(
            what=f"block {row['label']!r}", expected=expected, found=row["revision"]
        )


def refuse_read_only(row: Mapping[str, Any], what: str, as_owner: bool) -> None:
    """Raises ReadOnlyBlock if the block is read-only and this is not its keeper."""
    if row["read_only"] and not as_owner:
        raise ReadOnlyBlock(label=row["label"], what=what)


def _written(
    journal: Journal,
    row: dict[str, Any],
    columns: Mapping[str, Any],
    agent_id: str | None,
    label: str | None,
    warning: str | None,
) -> Block:
    after = {**row, **columns, "revision": row["revision"] + 1, "updated_at": journal.at}
    kept = journal.update(BLOCK, row, after, agent_id=agent_id, label=label or row["label"])
    return block_of(row if kept is None else kept, label=label, warning=warning)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]} … {text[-15:]}"
