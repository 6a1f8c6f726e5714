"""Versions of the memory file, and the way from each to the next and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dcf.memory.database.connection import Connection
from dcf.memory.database.errors import MemoryForeign, MemoryTooNew

Change: TypeAlias = str | Callable[[Connection], None]
"""A statement of SQL, or what needs more than that."""

APPLICATION_ID = 0x4443464D
"""What ``PRAGMA application_id`` says of a memory file: DCFM in ASCII."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The step to one version: ``up`` from the version before it, ``down`` back to that."""

    version: int
    name: str
    up: tuple[Change, ...]
    down: tuple[Change, ...]


def migrations() -> tuple[Migration, ...]:
    """All steps, from version 1 on."""
    from dcf.memory.database.migrations import STEPS

    return STEPS


def version_of(connection: Connection) -> int:
    """The version of the file; 0 if it is new."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(
    connection: Connection,
    path: Path,
    *,
    to: int | None = None,
    steps: Sequence[Migration] | None = None,
) -> tuple[int, int]:
    """Bring the file to version ``to`` (the newest if None) in one transaction.

    Returns the versions before and after. Several processes may do it at once: one does, the others
    find it done. Raises MemoryTooNew if the file is newer than the newest step, MemoryForeign if it
    is no memory file.
    """
    known = migrations() if steps is None else tuple(steps)
    newest = known[-1].version
    wanted = newest if to is None else to
    if version_of(connection) == wanted and _is_ours(connection):
        return wanted, wanted
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = version_of(connection)
        refuse_foreign(connection, path)
        if found > newest:
            raise MemoryTooNew(path=path, found=found, known=newest)
        for change in _way(known, found, wanted):
            if callable(change):
                change(connection)
            else:
                connection.execute(change)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        connection.execute(f"PRAGMA user_version = {wanted:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return found, wanted


def refuse_foreign(connection: Connection, path: Path) -> None:
    """Raises MemoryForeign if the file is another program's."""
    if not _is_ours(connection) and not is_empty(connection):
        raise MemoryForeign(path=path)


def _is_ours(connection: Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever made in the file."""
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _way(steps: Sequence[Migration], found: int, wanted: int) -> list[Change]:
    up = [step for step in steps if found < step.version <= wanted]
    down = [step for step in reversed(steps) if wanted < step.version <= found]
    return [change for step in up for change in step.up] + [
        change for step in down for change in step.down
    ]
