"""A pid is not an identity; its birth is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from control_plane.embedded.birth import birth, signal_process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits until it is ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_process_keeps_its_birth(sleeper: subprocess.Popen[bytes]) -> None:
    assert birth(sleeper.pid) == birth(sleeper.pid)
    assert birth(sleeper.pid) is not None


def test_two_processes_differ_from_one_another(sleeper: subprocess.Popen[bytes]) -> None:
    assert birth(sleeper.pid) != birth(1)


def test_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert birth(sleeper.pid) is None


def test_a_stranger_with_the_same_pid_gets_no_signal(sleeper: subprocess.Popen[bytes]) -> None:
    assert signal_process(sleeper.pid, "ticks:1", signal.SIGKILL) is False
    assert signal_process(sleeper.pid, None, signal.SIGKILL) is False
    assert sleeper.poll() is None


def test_the_process_itself_gets_the_signal(sleeper: subprocess.Popen[bytes]) -> None:
    assert signal_process(sleeper.pid, birth(sleeper.pid), signal.SIGTERM) is True
    assert sleeper.wait() == -signal.SIGTERM
