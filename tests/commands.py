"""Python programs for tests: each a process of its own, without the cost of its imports.

``run_dcf`` is ``subprocess.run`` of the command line, ``programs`` has a program ``dcf`` for
shells, and ``python`` is one for whatever starts an interpreter. All are done by the server in
``command_server.py``, one for all processes of a test run, started by the first that needs it.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

_SHIM = """#!{python} -IS
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    arguments = {arguments!r} + sys.argv[1:]
    request = {{"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}}
    said = json.dumps(request).encode() + b"\\n"
    sent = socket.send_fds(server, [said], [0, 1, 2])
    if said[sent:]:  # to say nothing fails too, once a short program has ended
        server.sendall(said[sent:])
    for stream in (0, 1, 2):  # the program has them; whoever waits for their end waits for it alone
        os.close(stream)
    answers = server.makefile("r")
    program = int(answers.readline())

    def pass_on(number, _):
        try:
            os.kill(program, number)
        except ProcessLookupError:  # it has ended, and how is about to be said
            pass

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    code = int(answers.readline())
if code < 0:
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
_stay: socket.socket
"""Open for as long as this process may need the server."""


def run_dcf(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Raises subprocess.TimeoutExpired where it says nothing for
    ``timeout`` seconds; the server then kills it."""
    request = {
        "arguments": ["-m", "dcf.cli", *arguments],
        "environment": {**env},
        "folder": str(cwd),
    }
    said = json.dumps(request).encode() + b"\n"
    folder = programs()
    with (
        socket.socket(socket.AF_UNIX) as server,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as error,
        Path(os.devnull).open("rb") as nothing,
    ):
        server.connect(str(folder / "socket"))
        streams = [stream.fileno() for stream in (nothing, out, error)]
        rest = said[socket.send_fds(server, [said], streams) :]
        # To say nothing fails too, once a short program has ended and nobody listens any more.
        if rest:
            server.sendall(rest)
        server.settimeout(timeout)
        try:
            _pid, code = server.makefile("r").readlines()
        except TimeoutError:
            raise subprocess.TimeoutExpired(["dcf", *arguments], timeout) from None
        texts = []
        for stream in (out, error):
            stream.seek(0)
            texts.append(io.TextIOWrapper(stream, encoding="utf-8").read())
    return subprocess.CompletedProcess(["dcf", *arguments], int(code), *texts)


def python() -> str:
    """In place of ``sys.executable``, for programs that are not about starting."""
    return str(programs() / "forked-python")


@cache
def programs() -> Path:
    """A folder for ``PATH`` with a program ``dcf``."""
    global _stay
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    # Not below pytest's folders, whose names are longer than a socket's may be.
    folder = Path(f"/tmp/dcf-test-{os.getuid()}-c-{run[:12]}")
    with _locked(folder):
        if not (folder / "dcf").exists():
            _start(folder)
        _stay = socket.socket(socket.AF_UNIX)
        _stay.connect(str(folder / "socket"))
        _stay.sendall(b'{"stay": true}\n')
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else starts the server of ``folder`` meanwhile, and it does not end: a server that
    ends has this lock, and takes the folder along."""
    path = folder / "lock"
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError), ExitStack() as stack:
            lock = stack.enter_context(path.open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                kept = stack.pop_all()
                break
    with kept:
        yield


def _start(folder: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("command_server.py")), folder / "socket"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not (folder / "socket").exists():
        assert server.poll() is None, "the server of commands did not start"
        time.sleep(0.02)
    for name, arguments in (("forked-python", []), ("dcf", ["-m", "dcf.cli"])):
        text = _SHIM.format(python=sys.executable, path=str(folder / "socket"), arguments=arguments)
        draft = folder / f"{name}.new"
        draft.write_text(text, encoding="utf-8")
        draft.chmod(0o700)
        draft.rename(folder / name)
