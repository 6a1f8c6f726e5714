"""Commands of ``dcf`` for tests: each a process of its own, without the cost of its imports.

``run_dcf`` is ``subprocess.run`` of the command line, done by the server in ``command_server.py``;
``dcf_folder`` has a program ``dcf`` that does the same, for the shells of the documentation. Both
use one server for each test process, started at its first command.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_SHIM = """#!{python} -IS
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    request = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}}
    said = json.dumps(request).encode() + b"\\n"
    sent = socket.send_fds(server, [said], [0, 1, 2])
    server.sendall(said[sent:])
    answers = server.makefile("r")
    command = int(answers.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(command, number))
    code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def run_dcf(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Raises subprocess.TimeoutExpired after ``timeout`` seconds, when
    the command has been killed."""
    command = [str(dcf_folder() / "dcf"), *arguments]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )


@cache
def dcf_folder() -> Path:
    """A folder for ``PATH`` with a program ``dcf``."""
    # Not below pytest's folders, whose names are longer than a socket's may be.
    folder = Path(tempfile.mkdtemp(prefix=f"dcf-test-{os.getuid()}-c-", dir="/tmp"))
    path = str(folder / "socket")
    program = Path(__file__).with_name("command_server.py")
    server = subprocess.Popen(
        [sys.executable, str(program), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(_end, server, folder)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    shim = folder / "dcf"
    shim.write_text(_SHIM.format(python=sys.executable, path=path), encoding="utf-8")
    shim.chmod(0o700)
    return folder


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    assert server.stdin is not None
    server.stdin.close()
    try:
        server.wait(10)
    finally:
        server.kill()
        shutil.rmtree(folder)
