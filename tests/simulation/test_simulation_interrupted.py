"""Ctrl-C ends many simulations with one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def _settled_children(process: int) -> list[str]:
    """Those that simulate: they have the thread that waits for the end of their starter."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [child for child in children if len(list(Path(f"/proc/{child}/task").iterdir())) > 1]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")
def test_processes_that_are_interrupted_print_no_traceback() -> None:
    words = ("-m", "dcf.cli", "sim", "--seeds", "0:1000000", "--jobs", "2")
    with subprocess.Popen(
        [sys.executable, *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as command:
        # They are simulating then.
        while command.poll() is None and len(_settled_children(command.pid)) < 2:
            os.sched_yield()
        os.killpg(command.pid, signal.SIGINT)
        _, told = command.communicate()
    assert command.returncode == 130
    assert "Traceback" not in told
    assert "interrupted" in told
