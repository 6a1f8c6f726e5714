"""A campaign that is ended by a signal leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

import pytest
from rich.console import Console

from tests.chaos.__main__ import until_interrupted
from tests.chaos.stderr import Stderr
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


def test_a_terminal_that_is_gone_ends_a_campaign_as_the_signal_does() -> None:
    reader, writer = os.openpty()
    os.close(reader)

    async def campaign() -> dict[str, Any]:
        try:
            show.print("so far")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            show.print("interrupted")
            return {"cleaned": True}
        return {}

    with open(writer, "w", encoding="utf-8", closefd=False) as stream:
        show = Console(file=cast(TextIO, Stderr(stream)))
        assert asyncio.run(until_interrupted(campaign())) == {"cleaned": True}
        with suppress(OSError):
            stream.close()
    os.close(writer)


def test_processes_that_still_have_the_home_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    with subprocess.Popen(
        command, env={"DCF_HOME": str(tmp_path)}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        asyncio.run(kill_left_processes(tmp_path))
        assert process.wait() == -signal.SIGKILL
