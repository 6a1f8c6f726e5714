"""What workers do besides their work: nothing of it keeps timers back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from stage import Stage, staged

from dcf.worker import sweeper


@staged
async def test_a_timer_fires_in_time_while_a_run_is_sealed_that_takes_long(stage: Stage) -> None:
    sealing = asyncio.Event()

    async def endless(_store: object, workflow_id: str, *, by: str) -> dict[str, Any]:
        del workflow_id, by
        sealing.set()
        await asyncio.Event().wait()
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeper, "finalize", endless)
        stage.worker()
        long = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 900, "End": True}}}
        short = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 30, "End": True}}}
        await stage.submit(long, run="over")
        await stage.submit(short, run="waits")
        await stage.until_status("A", "waiting", "waits")
        await stage.store.cancel("over", by="x")
        await sealing.wait()
        await stage.until_status("A", "done", "waits")
        [fired] = [event for event in await stage.events("waits") if event["type"] == "TimerFired"]
        assert fired["event"] == "timer"
