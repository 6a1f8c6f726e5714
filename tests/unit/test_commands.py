"""The server that forks the programs of tests, see tests/command_server.py."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
from contextlib import ExitStack
from pathlib import Path

from commands import programs


def _connected(stack: ExitStack) -> socket.socket:
    client = stack.enter_context(socket.socket(socket.AF_UNIX))
    client.connect(str(programs() / "socket"))
    client.settimeout(30)
    return client


def _run(client: socket.socket, code: str, folder: Path) -> None:
    request = {"arguments": ["-c", code], "environment": {**os.environ}, "folder": str(folder)}
    with Path(os.devnull).open("r+b") as nothing:
        socket.send_fds(client, [json.dumps(request).encode() + b"\n"], [nothing.fileno()] * 3)


def _accepted(tmp_path: Path, stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Two clients that the server knows of."""
    first, second, last = (_connected(stack) for _ in range(3))
    _run(last, "", tmp_path)
    assert len(last.makefile("r").readlines()) == 2
    return first, second


def test_a_program_that_goes_on_does_not_hold_up_one_asked_for_at_the_same_moment(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        first, second = _accepted(tmp_path, stack)
        server, _, _ = struct.unpack(
            "3i", first.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        )
        os.kill(server, signal.SIGSTOP)
        try:
            _run(first, "import time; time.sleep(600)", tmp_path)
            _run(second, "raise SystemExit(7)", tmp_path)
        finally:
            os.kill(server, signal.SIGCONT)

        pid, code = second.makefile("r").readlines()

    assert int(pid) > 0
    assert int(code) == 7
