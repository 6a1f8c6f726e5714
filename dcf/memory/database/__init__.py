"""The file that the memory lives in: connections, transactions, versions, backups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.database.backup import rekey, restore
    from dcf.memory.database.connection import ACCESS_DAYS, Connection, Source, translated
    from dcf.memory.database.copying import partial, sync
    from dcf.memory.database.database import Database, Work
    from dcf.memory.database.errors import (
        BackupExists,
        CipherMissing,
        MemoryBusy,
        MemoryCorrupt,
        MemoryForeign,
        MemoryFull,
        MemoryInUse,
        MemoryKey,
        MemoryTooNew,
        MemoryUnusable,
        UnusableKey,
        UnusableValue,
    )
    from dcf.memory.database.integrity import damage
    from dcf.memory.database.migration import Migration, migrate, migrations, version_of
    from dcf.memory.database.packing import packed, unpacked
    from dcf.memory.database.users import holders_of, users_of
else:
    export_late(__name__)

__all__ = [
    "ACCESS_DAYS",
    "BackupExists",
    "CipherMissing",
    "Connection",
    "Database",
    "MemoryBusy",
    "MemoryCorrupt",
    "MemoryForeign",
    "MemoryFull",
    "MemoryInUse",
    "MemoryKey",
    "MemoryTooNew",
    "MemoryUnusable",
    "Migration",
    "Source",
    "UnusableKey",
    "UnusableValue",
    "Work",
    "damage",
    "holders_of",
    "migrate",
    "migrations",
    "packed",
    "partial",
    "rekey",
    "restore",
    "sync",
    "translated",
    "unpacked",
    "users_of",
    "version_of",
]
