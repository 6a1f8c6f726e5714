"""The workers of a campaign end with it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.chaos.deployment import Crew


async def test_a_worker_that_is_being_started_at_the_end_is_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(endless))
    crew = Crew(1, {}, tmp_path, 2.0)
    with (tmp_path / "log").open("w") as log:
        crew.open(log)
        # Its start has begun, and there is no process yet that could get a signal.
        await asyncio.sleep(0)
        assert await crew.close(patience_s=10.0) == 0
    assert crew.starts == 1
