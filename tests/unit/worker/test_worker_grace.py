"""Whether a process could run: by what the system says of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcf.worker.grace import Sight, could_run, sight_of

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@pytest.mark.parametrize(
    ("status", "ran_s", "could"),
    [
        # It waits for something, and would be woken.
        ("S", 0.0, True),
        ("R", 0.5, True),
        ("R", 0.06, True),
        # It wants to run and is not let.
        ("R", 0.0, False),
        ("R", 0.04, False),
        # A disk, or memory that comes from one, does not answer; a debugger holds it.
        ("D", 0.0, False),
        ("t", 0.0, False),
        ("T", 0.0, False),
        # It has ended, and nothing keeps it from being seen.
        ("Z", 0.0, True),
        ("", 0.0, True),
    ],
)
def test_who_wants_to_run_and_gets_less_than_a_tenth_of_a_processor_could_not_run(
    status: str, ran_s: float, could: bool
) -> None:
    assert could_run(Sight("S", 7.0), Sight(status, 7.0 + ran_s), 0.5) is could


@needs_proc
def test_the_processor_time_is_that_of_the_process() -> None:
    before = time.process_time()
    seen = sight_of(os.getpid())
    after = time.process_time()
    # The system counts in hundredths, separately in its own code and in ours.
    assert before - 0.03 <= seen.ran_s <= after
    assert seen.status == "R"


@needs_proc
def test_a_process_that_is_stopped_is_seen_as_such() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        assert sight_of(process.pid).status == "T"
        process.kill()


def test_of_what_is_gone_nothing_is_said() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert sight_of(process.pid) == Sight("", 0.0)
