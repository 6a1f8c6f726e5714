"""How much there is, by kind and by agent."""

from __future__ import annotations

from dcf.memory.audit.border import border_of
from dcf.memory.database import Connection, version_of
from dcf.memory.ledger import Ledger
from dcf.memory.retention.cut import file_bytes, used_bytes
from dcf.memory.stats import AgentStats, BlockStats, KindStats, Stats

_TEXTS: dict[str, tuple[str, ...]] = {
    "agents": ("system", "description", "metadata", "extra"),
    "blocks": ("value", "description", "metadata"),
    "messages": ("content", "parts"),
    "passages": ("text", "tags", "source"),
    "events": ("change", "packed", "reason"),
    "letters": ("text", "reply", "cause"),
    "turns": ("cause",),
    "attached_tools": ("description", "input_schema"),
    "projects": ("metadata",),
    "sessions": ("end_reason",),
    "scratch_pads": ("value",),
    "skills": ("description", "content", "config"),
    "observations": ("title", "subtitle", "facts", "narrative"),
    "threads": ("title",),
    "thread_turns": ("text", "tools"),
    "documents": ("title",),
    "document_pieces": ("text", "headings"),
    "playbooks": ("pattern", "resolution", "owner", "sources", "uses"),
    "nodes": ("title", "metadata"),
    "node_entries": ("text", "metadata"),
    "node_reads": ("by_reason", "entries"),
    "consolidation_sessions": ("before", "after", "changes", "left_out"),
    "search_documents": (),
    "search_vectors": ("value",),
    "search_signs": ("places", "bits"),
    "search_words_data": ("block",),
    "search_abouts_data": ("block",),
}
"""Columns with text or data, by table. The last five are the index of search."""


async def stats_of(ledger: Ledger, *, agents: int, blocks: int) -> Stats:
    """How much there is, of one moment; of so many agents and blocks each by itself."""
    wal = await ledger.database.wal_size()
    return await ledger.read(lambda connection: _stats(connection, wal, agents, blocks))


def _stats(connection: Connection, wal: int, agents: int, blocks: int) -> Stats:
    size = file_bytes(connection)
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
    return Stats(
        version=version_of(connection),
        file_bytes=size,
        wal_bytes=wal,
        free_bytes=size - used_bytes(connection),
        kinds=tuple(_kind(connection, table, columns) for table, columns in _TEXTS.items()),
        agents=_agents(connection, agents),
        largest_blocks=_blocks(connection, blocks),
        border=border_of(connection),
        last_event=int(last),
    )


def _kind(connection: Connection, table: str, columns: tuple[str, ...]) -> KindStats:
    row = connection.execute(
        f"SELECT count(*), coalesce(sum({_bytes(columns)}), 0) FROM {table}"
    ).fetchone()
    return KindStats(table, int(row[0]), int(row[1]))


def _agents(connection: Connection, most: int) -> tuple[AgentStats, ...]:
    rows = connection.execute(
        "SELECT a.id AS agent_id, a.name, coalesce(b.blocks, 0) AS blocks,"
        " coalesce(b.bytes, 0) AS block_bytes, coalesce(m.messages, 0) AS messages,"
        " coalesce(m.archived, 0) AS archived, coalesce(m.bytes, 0) AS message_bytes,"
        " coalesce(p.passages, 0) AS passages, coalesce(p.bytes, 0) AS passage_bytes,"
        " (SELECT count(*) FROM events WHERE agent_id = a.id) AS events FROM agents a"
        f" LEFT JOIN (SELECT h.agent_id, count(*) AS blocks, sum({_bytes(('value',))}) AS bytes"
        " FROM block_holders h JOIN blocks ON id = h.block_id GROUP BY h.agent_id) b"
        " ON b.agent_id = a.id"
        " LEFT JOIN (SELECT agent_id, count(*) AS messages, count(archived_at) AS archived,"
        f" sum({_bytes(('content', 'parts'))}) AS bytes FROM messages GROUP BY agent_id) m"
        " ON m.agent_id = a.id"
        f" LEFT JOIN (SELECT agent_id, count(*) AS passages, sum({_bytes(('text',))}) AS bytes"
        " FROM passages GROUP BY agent_id) p ON p.agent_id = a.id"
        " ORDER BY coalesce(b.bytes, 0) + coalesce(m.bytes, 0) + coalesce(p.bytes, 0) DESC, a.name"
        " LIMIT ?",
        (max(most, 0),),
    )
    return tuple(AgentStats(**dict(row)) for row in rows)


def _blocks(connection: Connection, most: int) -> tuple[BlockStats, ...]:
    rows = connection.execute(
        f"SELECT id AS block_id, label, {_bytes(('value',))} AS bytes, hard_limit,"
        " (SELECT count(*) FROM block_holders h WHERE h.block_id = blocks.id) AS holders"
        " FROM blocks ORDER BY bytes DESC, id LIMIT ?",
        (max(most, 0),),
    )
    return tuple(BlockStats(**dict(row)) for row in rows)


def _bytes(columns: tuple[str, ...]) -> str:
    """The bytes in these columns of a row, as an expression of SQL."""
    each = (f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in columns)
    return " + ".join(each) or "0"
