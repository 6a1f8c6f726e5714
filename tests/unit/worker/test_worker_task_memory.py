"""What is kept of the tries of a Task, without the whole way of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import Memory, NodeStep, Source
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
