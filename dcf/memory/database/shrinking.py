"""Giving back the room in a memory file that nothing needs any more."""

from __future__ import annotations

from dcf.memory.database.connection import Connection

_PAGES = 2_000
_BUSY_MS = 1_000


def set_up(connection: Connection) -> None:
    """A file that is made from now on can give pages back one by one; of others nothing changes."""
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")


def shrink_step(connection: Connection) -> bool:
    """Give some pages back, in a transaction of their own; whether there are more.

    A file that was not made for that is written anew as a whole, if a quarter of it is empty.
    """
    free = _number(connection, "freelist_count")
    if free == 0:
        return False
    if _number(connection, "auto_vacuum") == 2:
        connection.execute(f"PRAGMA incremental_vacuum({_PAGES:d})").fetchall()
        return _number(connection, "freelist_count") > 0
    if free * 4 >= _number(connection, "page_count"):
        _write_anew(connection)
    return False


def rewrite(connection: Connection, busy_s: float) -> None:
    """Write the file anew, and what is beside it into it: what was removed is in neither."""
    _write_anew(connection)
    end_log(connection, busy_s)


def _write_anew(connection: Connection) -> None:
    # The copy that it makes is as large as the file.
    connection.execute("PRAGMA temp_store = FILE")
    set_up(connection)
    connection.execute("VACUUM")
    connection.execute("PRAGMA temp_store = MEMORY")


def end_log(connection: Connection, busy_s: float) -> None:
    """Put what is beside the file into it, unless somebody reads there for longer than a second."""
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS:d}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {round(busy_s * 1000):d}")


def _number(connection: Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
