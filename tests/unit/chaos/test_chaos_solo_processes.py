"""Solo processes are found below their worker, and no signal reaches another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.chaos.solo_processes import held, solos_of, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

UP = """
import sys, threading
if "threads" in sys.argv:
    threading.Thread(target=sys.stdin.read).start()
print("up", flush=True)
sys.stdin.read() if "threads" not in sys.argv else None
"""


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A child of this process, which is up."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", UP, *arguments], stdin=pipe, stdout=pipe) as made:
        assert made.stdout is not None
        made.stdout.readline()
        try:
            yield made
        finally:
            made.kill()


def test_what_works_on_one_state_is_found_once_it_is_up() -> None:
    with child("--solo", "threads") as solo, child("--solo"), child("threads"):
        assert solos_of(os.getpid()) == [solo.pid]
    assert solos_of(os.getpid()) == []


def test_a_solo_process_that_is_held_gets_signals_until_it_has_ended() -> None:
    with child("--solo", "threads") as solo, held(solo.pid, os.getpid()) as process:
        assert process is not None
        assert process.send(signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(solo.pid, os.WUNTRACED)[1])
        assert process.send(signal.SIGKILL)
        assert solo.wait() == -signal.SIGKILL
        assert not process.send(signal.SIGCONT)


def test_what_is_no_solo_process_of_the_worker_is_not_held() -> None:
    with child("threads") as other, held(other.pid, os.getpid()) as process:
        assert process is None
    with held(other.pid, os.getpid()) as process:
        assert process is None
