"""A version that does not know compressed events gets them as they were."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from memory_world import Numbered, Ticking

from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, Source
from dcf.memory.consolidation import Consolidator
from dcf.memory.database import Connection, migrate

DAY = 86_400_000
LONG = "\n".join(f'"Line" {number}: ünïcode \U0001f600' for number in range(100))


def changes(connection: Connection) -> list[str]:
    rows = connection.execute("SELECT change FROM events ORDER BY seq")
    return [row["change"] for row in rows]


async def test_events_are_unpacked_on_the_way_down(tmp_path: Path) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        blocks = [NewBlock("notes", LONG)]
        await memory.agents.create(NewAgent("anna"), by=SYSTEM, agent_id="anna", blocks=blocks)
        before = await memory.ledger.read(changes)
        clock.now += 31 * DAY
        session = await Consolidator(memory).run("anna")
        assert [change.strategy for change in session.changes] == ["compress"]
        assert await memory.ledger.read(changes) != before
        assert await memory.check() == ()
    with closing(source.connect()) as connection:
        migrate(connection, source.path, to=3)
        assert changes(connection) == before
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        assert await memory.ledger.read(changes) == before
        assert await memory.check() == ()
