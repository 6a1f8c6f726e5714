"""What an event did to a row: JSON that says enough to undo it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from dcf.memory.audit.edit import Edit, digest_of, edit_between
from dcf.memory.audit.entity import Entity, Row

Change: TypeAlias = dict[str, Any]
"""``{"created": row}``, ``{"deleted": row}`` or ``{"changed": {column: [before, after]}}``, where
a long column has ``{"at", "removed", "added", "digest"}`` instead of the pair. With a key
``forgotten``, which has the id of a receipt, its texts are gone for good."""

FORGOTTEN = "forgotten"


def change_between(entity: Entity, before: Row | None, after: Row | None) -> Change | None:
    """What turned ``before`` into ``after`` (None: there was, or is, no row); None if nothing."""
    if before is None:
        return None if after is None else {"created": _kept(entity, after)}
    if after is None:
        return {"deleted": _kept(entity, before)}
    changed = {
        column: _difference(entity, column, before[column], after[column])
        for column in after
        # A row that was noted by an older version of the file lacks the columns added since.
        if column not in entity.own and column in before and before[column] != after[column]
    }
    return {"changed": changed} if changed else None


def row_before(entity: Entity, change: Mapping[str, Any], now: Row | None) -> Row | None:
    """The row before ``change``, of the row after it. Columns that are never undone stay.

    Raises Overlapped if ``now`` is not what the change left behind, ContentForgotten if the change
    no longer says what was before it.
    """
    if FORGOTTEN in change:
        raise ContentForgotten(change[FORGOTTEN])
    if "created" in change:
        _expect(now is not None)
        left = change_between(entity, change["created"], now)
        if left is not None:
            raise Overlapped(next(iter(left["changed"])))
        return None
    if "deleted" in change:
        _expect(now is None)
        return dict(change["deleted"])
    _expect(now is not None)
    row = dict(now or {})
    for column, difference in change["changed"].items():
        row[column] = _earlier(column, difference, row[column])
    return row


class Overlapped(Exception):
    """A row is not as the change left it in ``column`` (None: in whether it is there)."""

    def __init__(self, column: str | None) -> None:
        self.column = column
        super().__init__(column)


class ContentForgotten(Overlapped):
    """What a row was is forgotten for good, as the receipt says."""

    def __init__(self, receipt_id: str) -> None:
        self.receipt_id = receipt_id
        super().__init__(None)


def _kept(entity: Entity, row: Row) -> dict[str, Any]:
    return {**row, **dict.fromkeys(entity.unkept, "")}


def _difference(entity: Entity, column: str, before: Any, after: Any) -> Any:
    if column in entity.long:
        return asdict(edit_between(before, after))
    return [before, after]


def _earlier(column: str, difference: Any, now: Any) -> Any:
    if isinstance(difference, Mapping):
        edit = Edit(**difference)
        _expect(digest_of(now) == edit.digest, column)
        return edit.undone(now)
    before, after = difference
    _expect(now == after, column)
    return before


def _expect(held: bool, column: str | None = None) -> None:
    if not held:
        raise Overlapped(column)
