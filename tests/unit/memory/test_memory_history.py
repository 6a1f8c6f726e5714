"""After any changes by several agents, going back to any event gives the rows of that moment."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from campaigns import REMEMBERED, settled
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    Memory,
    MemoryProblem,
    NewAgent,
    NewBlock,
    Retention,
    RollbackRefused,
    Source,
)

pytestmark = settled(*REMEMBERED)

T = TypeVar("T")
BY = Actor("user", "ada")
AGENTS = st.sampled_from(["agent-1", "agent-2", "agent-3"])
LABELS = st.sampled_from(["human", "persona", "notes"])
TEXTS = st.text("ab\nä", max_size=6)
TABLES = ("agents", "blocks", "block_holders")
ONWARD = {"revision", "updated_at"}
"""What a rollback does not take back."""

Rows = dict[str, list[dict[str, Any]]]


def rows_of(connection: Any) -> Rows:
    """All rows of the recorded tables."""
    return {
        table: sorted(
            (
                {name: row[name] for name in row.keys() if name not in ONWARD}  # noqa: SIM118
                for row in connection.execute(f"SELECT * FROM {table}")
            ),
            key=str,
        )
        for table in TABLES
    }


class History(RuleBasedStateMachine):
    """Changes at random; what the file had after each event is kept beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.folder = tempfile.TemporaryDirectory()
        source = Source(Path(self.folder.name) / "m.db")
        self.memory: Memory = self.wait(
            self.stack.enter_async_context(Memory.open(source, clock=Ticking(), new_id=Numbered()))
        )
        self.moments: dict[int, Rows] = {0: self.rows()}

    def teardown(self) -> None:
        self.wait(self.stack.aclose())
        self.loop.close()
        self.folder.cleanup()

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    def rows(self) -> Rows:
        return self.wait(self.memory.ledger.read(rows_of))

    def last(self) -> int:
        return self.wait(self.memory.events.last())

    def attempt(self, call: Coroutine[Any, Any, object]) -> None:
        """Do it, or have it refused; either way the file is at one moment."""
        with suppress(MemoryProblem):
            self.wait(call)
        self.moments[self.last()] = self.rows()

    @rule(name=st.sampled_from("xyz"), labels=st.sets(LABELS))
    def create_agent(self, name: str, labels: set[str]) -> None:
        blocks = [NewBlock(label, label) for label in sorted(labels)]
        self.attempt(self.memory.agents.create(NewAgent(name), by=BY, blocks=blocks))

    @rule(agent=AGENTS, name=st.sampled_from("xyz"), tags=st.sets(st.sampled_from("tu")))
    def update_agent(self, agent: str, name: str, tags: set[str]) -> None:
        self.attempt(self.memory.agents.update(agent, by=BY, name=name, tags=tuple(tags)))

    @rule(agent=AGENTS)
    def delete_agent(self, agent: str) -> None:
        self.attempt(self.memory.agents.delete(agent, by=BY))

    @rule(agent=AGENTS, label=LABELS, text=TEXTS, shared=st.booleans())
    def create_block(self, agent: str, label: str, text: str, shared: bool) -> None:
        new = NewBlock(label, text, type="shared" if shared else "global")
        self.attempt(self.memory.blocks.create(agent, new, by=BY))

    @rule(agent=AGENTS, label=LABELS, text=TEXTS)
    def write(self, agent: str, label: str, text: str) -> None:
        self.attempt(self.memory.blocks.write(agent, label, text, by=BY))

    @rule(agent=AGENTS, label=LABELS, text=TEXTS)
    def append(self, agent: str, label: str, text: str) -> None:
        self.attempt(self.memory.blocks.append(agent, label, text, by=BY))

    @rule(agent=AGENTS, label=LABELS, limit=st.integers(10, 12))
    def change(self, agent: str, label: str, limit: int) -> None:
        self.attempt(self.memory.blocks.change(agent, label, by=BY, hard_limit=limit))

    @rule(agent=AGENTS, label=LABELS, held_as=LABELS, other=AGENTS)
    def attach(self, agent: str, label: str, held_as: str, other: str) -> None:
        async def call() -> None:
            block = await self.memory.blocks.read(agent, label)
            await self.memory.blocks.attach(other, block.id, by=BY, label=held_as)

        self.attempt(call())

    @rule(agent=AGENTS, label=LABELS)
    def detach(self, agent: str, label: str) -> None:
        self.attempt(self.memory.blocks.detach(agent, label, by=BY))

    @rule(agent=AGENTS, label=LABELS)
    def delete_block(self, agent: str, label: str) -> None:
        self.attempt(self.memory.blocks.delete(agent, label, by=BY))

    @rule(kept=st.integers(0, 15))
    def give_up_history(self, kept: int) -> None:
        before = self.rows()
        retention = Retention(events_ms=None, most_events=kept, orphan_blocks_ms=None)
        self.wait(self.memory.collect_garbage(retention, batch=3))
        assert self.rows() == before, "no row is touched"
        border = self.wait(self.memory.events.border())
        self.moments = {seq: rows for seq, rows in self.moments.items() if seq >= border}

    @rule(agent=AGENTS, data=st.data())
    def roll_back_agent(self, agent: str, data: st.DataObject) -> None:
        then = data.draw(st.sampled_from(sorted(self.moments)))
        before = self.rows()
        try:
            self.wait(self.memory.events.roll_back_agent(agent, then, by=BY))
        except RollbackRefused as refused:
            assert refused.conflicts
            assert self.rows() == before, "nothing of a refused rollback is kept"
        else:
            self.assert_agent(agent, then)
        self.moments[self.last()] = self.rows()

    @rule(block=st.integers(1, 8), data=st.data())
    def roll_back_block(self, block: int, data: st.DataObject) -> None:
        then = data.draw(st.sampled_from(sorted(self.moments)))
        block_id = f"block-{block}"
        before = self.rows()
        try:
            self.wait(self.memory.events.roll_back_block(block_id, then, by=BY))
        except RollbackRefused:
            assert self.rows() == before
        else:
            # Its texts and its holders are exactly those of the moment.
            now, once = self.rows(), self.moments[then]
            for table, column in (("blocks", "id"), ("block_holders", "block_id")):
                assert [row for row in now[table] if row[column] == block_id] == [
                    row for row in once[table] if row[column] == block_id
                ]
        self.moments[self.last()] = self.rows()

    @rule(data=st.data())
    def roll_back_everything(self, data: st.DataObject) -> None:
        """All that anybody did, as one consolidation of the whole file would be undone."""
        from dcf.memory.audit.history import Query, newest_first
        from dcf.memory.audit.rollback import roll_back

        then = data.draw(st.sampled_from(sorted(self.moments)))

        def work(journal: Any) -> None:
            roll_back(journal, list(newest_first(journal.connection, Query(behind=then))))

        self.wait(self.memory.ledger.change(BY, work))
        assert self.rows() == self.moments[then]
        self.moments[self.last()] = self.rows()

    def assert_agent(self, agent: str, then: int) -> None:
        """The agent and what it holds are as they were, but for blocks that others hold too."""
        now, once = self.rows(), self.moments[then]
        for table, column in (("agents", "id"), ("block_holders", "agent_id")):
            assert [row for row in now[table] if row[column] == agent] == [
                row for row in once[table] if row[column] == agent
            ]
        touched = {
            event.agent_id: event.seq
            for event in self.wait(self.memory.events.list(limit=10_000))
            if event.seq > then and event.entity == "block"
        }
        if set(touched) <= {agent}:
            held = {row["block_id"] for row in now["block_holders"] if row["agent_id"] == agent}
            assert [row for row in now["blocks"] if row["id"] in held] == [
                row for row in once["blocks"] if row["id"] in held
            ]

    @invariant()
    def events_and_rows_agree(self) -> None:
        assert self.wait(self.memory.check()) == ()

    @invariant()
    def events_explain_each_text(self) -> None:
        for then, rows in list(self.moments.items())[-3:]:
            for block in rows["blocks"]:
                text = self.wait(self.memory.events.text(block["id"], then))
                assert text == block["value"]


History.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestHistory = History.TestCase
