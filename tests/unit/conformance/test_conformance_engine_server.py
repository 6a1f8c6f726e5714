"""The Redis server of a runner never outlives it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_STARTER = """
import sys, time
from dcf.conformance.engine_server import OwnServer
print(OwnServer().url, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_its_starter(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", _STARTER], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        try:
            assert starter.stdout.readline()
            assert list(tmp_path.glob("dcf-conformance-*"))
        finally:
            starter.send_signal(number)

    until = time.monotonic() + 30
    while list(tmp_path.glob("dcf-conformance-*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert not list(tmp_path.glob("dcf-conformance-*"))
