"""Ctrl-C ends many simulations with one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def _hears(process: str) -> bool:
    """Whether Python has begun there: its handler of SIGINT is set."""
    told = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in told.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) & 1 << signal.SIGINT - 1)


def _hearing_children(process: int) -> list[str]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [child for child in children if _hears(child)]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")
def test_processes_that_are_interrupted_print_no_traceback() -> None:
    words = ("-m", "dcf.cli", "sim", "--seeds", "0:1000000", "--jobs", "2")
    with subprocess.Popen(
        [sys.executable, *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as command:
        # They are importing then.
        while command.poll() is None and len(_hearing_children(command.pid)) < 2:
            os.sched_yield()
        os.killpg(command.pid, signal.SIGINT)
        _, told = command.communicate()
    assert command.returncode == 130
    assert "Traceback" not in told
    assert "interrupted" in told
