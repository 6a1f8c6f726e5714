"""Which runs there are: read together, not one by one."""

from __future__ import annotations

from typing import Any

from stage import Stage, staged

from dcf.workflow import newest_runs


@staged
async def test_any_number_of_runs_is_listed_with_as_many_reads_as_one(stage: Stage) -> None:
    machine = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 9999, "End": True}}}
    reads: list[str] = []
    command = stage.store.backend.command

    async def counted(*args: str | int) -> Any:
        reads.append(str(args[0]))
        return await command(*args)

    async def listed() -> list[str]:
        reads.clear()
        stage.store.backend.command = counted  # type: ignore[method-assign]
        try:
            return [run.workflow_id async for run in newest_runs(stage.store, 50)]
        finally:
            stage.store.backend.command = command  # type: ignore[method-assign]

    await stage.submit(machine, run="r-0")
    assert await listed() == ["r-0"]
    alone = len(reads)
    for number in range(1, 30):
        await stage.submit(machine, run=f"r-{number}")
    assert len(await listed()) == 30
    assert len(reads) == alone
