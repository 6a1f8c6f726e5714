"""Which runs there are: workers keep the lists complete while they do their work."""

from __future__ import annotations

from stage import Stage, passing, staged

from control_plane import keys
from control_plane.run_lists import STATUSES


@staged
async def test_a_worker_lists_runs_of_an_older_version_that_are_over_or_wait(stage: Stage) -> None:
    waiting = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 900_000, "End": True}}}
    worker = stage.worker()
    await stage.submit(waiting, run="waits")
    await stage.until_status("A", "waiting", "waits")
    await stage.submit({"StartAt": "A", "States": {"A": passing(End=True)}}, run="over")
    await stage.end("over")

    async def is_done() -> bool:
        return await stage.store.backend.command("ZCARD", keys.DONE) == 1

    await stage.until(is_done)
    await stage.leave(worker)
    await stage.store.backend.command("DEL", keys.RUNS_FILLED, *map(keys.runs, STATUSES))

    stage.worker(name="w2")

    async def are_listed() -> bool:
        names = [("running", "waits"), ("succeeded", "over")]
        at = [
            await stage.store.backend.command("ZSCORE", keys.runs(status), run)
            for status, run in names
        ]
        return None not in at

    await stage.until(are_listed)
