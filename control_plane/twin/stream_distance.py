"""How far a consumer group has come, as XINFO reports it.

Deleted entries leave holes that a server does not count; where one lies in the way, it does not
know either.
"""

from __future__ import annotations

from control_plane.twin.stream import LOWEST, EntryId, Group, Stream


def _holes_after(stream: Stream, entry_id: EntryId) -> bool:
    deleted = stream.max_deleted_id
    return bool(len(stream)) and deleted != LOWEST and entry_id <= deleted


def _entries_up_to(stream: Stream, entry_id: EntryId) -> int | None:
    """How many entries were ever added up to ``entry_id``, if that can be told."""
    if not stream.added:
        return 0
    if not len(stream) and entry_id <= stream.last_id:
        return stream.added
    if LOWEST < entry_id < stream.max_deleted_id:
        return None
    if entry_id >= stream.last_id:
        return stream.added if entry_id == stream.last_id else None
    if stream.max_deleted_id < stream.first_id and entry_id <= stream.first_id:
        return stream.added - len(stream) + (entry_id == stream.first_id)
    return None


def advance(stream: Stream, group: Group, entry_id: EntryId) -> None:
    """Note that ``group`` was given ``entry_id``."""
    if entry_id <= group.last_id:
        return
    known = group.entries_read is not None and group.last_id >= stream.first_id
    if known and not _holes_after(stream, group.last_id):
        assert group.entries_read is not None
        group.entries_read += 1
    else:
        group.entries_read = _entries_up_to(stream, entry_id)
    group.last_id = entry_id


def lag(stream: Stream, group: Group) -> int | None:
    """How many entries ``group`` has still to read."""
    if not len(stream):
        return 0
    read = group.entries_read
    if read is None or _holes_after(stream, group.last_id):
        read = _entries_up_to(stream, group.last_id)
    return None if read is None else stream.added - read
