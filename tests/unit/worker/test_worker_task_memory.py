"""What is kept of the tries of a Task, without the whole way of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import AnsweredCall, Memory, NodeStep, Source
from dcf.worker.node_place import NodePlace
from dcf.worker.task_memory import TaskMemory


async def test_a_failure_is_kept_without_parts_of_secrets_and_characters_that_none_keeps(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        task = TaskMemory(memory, "/lab", NodePlace("r1", (NodeStep("run", "1", "run"),)))
        # 2,000 characters are kept, and the secret begins before them and ends behind them.
        await task.note_failure("Mail", "Broke", f"{'x ' * 980}AKIA{'ABCD2345' * 2}")
        await task.note_failure("Mail", "Broke", "by \0 and \ud800")
        long, odd = await task.read()
    assert len(long.text) == 2_000 and "AKIA" not in long.text
    assert odd.text == "Mail failed with Broke: by \ufffd and \ufffd"
    assert "2 characters are kept as U+FFFD" in caplog.text


async def test_what_the_calls_of_an_agent_showed_is_kept_in_the_node_once(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        task = TaskMemory(memory, "/lab", NodePlace("r1", (NodeStep("run", "1", "run"),)))
        failed = AnsweredCall("pay", {"of": "ada"}, {"error": {"code": "Pay.Busy"}}, True)
        await task.observe("Pay", [failed] * 2)
        assert await memory.nodes.nearest("/lab", "r1", task.place.steps) is None
        for _ in range(2):
            await task.observe("Pay", [failed] * 3)
        (entry,) = await task.read()
        assert await memory.observations.list() == ()
    assert entry.kind == "observation" and "ada" not in entry.text
    first, *_, last = entry.text.splitlines()
    assert (first, last) == ("Pay: pay failed again and again", "It failed with Pay.Busy.")
