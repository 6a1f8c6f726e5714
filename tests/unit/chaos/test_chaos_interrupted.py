"""A campaign that is ended by a signal leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.__main__ import until_interrupted
from tests.chaos.verdict import kill_left_processes


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_campaign_once_and_its_cleanup_is_finished(sent: signal.Signals) -> None:
    async def campaign() -> dict[str, Any]:
        try:
            os.kill(os.getpid(), sent)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            os.kill(os.getpid(), sent)
            await asyncio.sleep(0.05)
            return {"cleaned": True}
        return {}

    assert asyncio.run(until_interrupted(campaign())) == {"cleaned": True}


def test_processes_that_still_have_the_home_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    with subprocess.Popen(
        command, env={"DCF_HOME": str(tmp_path)}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        asyncio.run(kill_left_processes(tmp_path))
        assert process.wait() == -signal.SIGKILL
