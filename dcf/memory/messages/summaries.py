"""Which messages a summary may stand for."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.memory.database import Connection
from dcf.memory.messages.pairs import halves
from dcf.problem import Problem


def range_problems(
    connection: Connection, place: str, agent_id: str, seq: int, replaces: tuple[int, int]
) -> Iterator[Problem]:
    """What is wrong with a summary numbered ``seq`` that stands for the messages ``replaces``."""
    first, last = replaces
    if not 1 <= first <= last < seq:
        yield Problem(
            "memory_summary_range",
            f"the messages {first} to {last} are not all before {seq}",
            f"{place}/replaces",
            "name the first and the last message that it stands for",
        )
        return
    for row in connection.execute(
        "SELECT seq, replaces_first, replaces_last FROM messages WHERE agent_id = ?"
        " AND role = 'summary' AND replaces_first <= ? AND replaces_last >= ?",
        (agent_id, last, first),
    ):
        inside = first <= row["replaces_first"] and row["replaces_last"] <= last
        around = row["replaces_first"] <= first and last <= row["replaces_last"]
        if not inside and not around:
            yield Problem(
                "memory_summary_overlap",
                f"it would stand for a part of what summary {row['seq']} stands for: messages"
                f" {row['replaces_first']} to {row['replaces_last']}",
                f"{place}/replaces",
                "take in all of them, or none",
            )
    yield from _torn_problems(connection, place, agent_id, replaces)


def _torn_problems(
    connection: Connection, place: str, agent_id: str, replaces: tuple[int, int]
) -> Iterator[Problem]:
    first, last = replaces
    rows = connection.execute(
        "SELECT seq, parts FROM messages WHERE agent_id = ? AND parts <> '[]' ORDER BY seq",
        (agent_id,),
    ).fetchall()
    already = halves(rows)
    inside = [row for row in rows if first <= row["seq"] <= last]
    torn = sorted(halves(inside) - already)
    if torn:
        yield Problem(
            "memory_summary_torn",
            f"it would part tool calls from their returns: messages {torn}",
            f"{place}/replaces",
            "end after the return, or before the call",
        )
