"""A process that has imported ``dcf`` and forks itself for every Python program that tests start.

Most of what a short command costs is importing. A forked program is a process of its own, with its
own arguments, environment, folder and streams; only its imports were done before. The processes
that it starts with the interpreter (workers, stubs) are forked from it in the same way, see
``_Seed``. What the interpreter does at a start is tested by processes that are started with
``sys.executable``, as in tests/unit/cli/test_cli_start.py.

``python command_server.py SOCKET`` listens. A client sends one JSON line and its standard streams
as file descriptors: ``{"arguments", "environment", "folder"}``, the arguments being those of the
interpreter: ``-m MODULE …``, ``-c CODE …``, ``-`` or ``FILE …``. It receives the pid of its program
at once and the exit code at the end, each as a decimal number on a line. A client that goes away
kills its program. ``{"stay": true}`` is the request of a test process: the server ends, and
removes the folder of its socket, when the last of these is gone.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_REQUEST_BYTES = 1 << 20
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_INTERPRETER = sys.executable
# What libraries import when they are used, as many programs do.
_LATE = (
    "anyio._backends._asyncio",
    "encodings.idna",
    "genai_prices.data",
    "rich._emoji_codes",
    "tokenizers",
    "typer._adapters",
    "typer._click.decorators",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
# Commands that start others, see _Seed.
_STARTING = frozenset({"demo", "plan", "run", "session", "up", "worker"})
_exec: Callable[..., int] = subprocess._fork_exec  # type: ignore[attr-defined]


def main(path: str) -> None:
    """Listen on ``path`` until nobody stays."""
    del sys.path[0]  # the folder of this file: programs have their own
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        # Whoever sees the socket may connect at once.
        draft = f"{path}.new"
        listener.bind(draft)
        listener.listen(128)
        Path(draft).rename(path)
        _import("control_plane", "dcf")
        for name in _LATE:
            importlib.import_module(name)
        # What is there now stays: looking at it would make each child copy its pages.
        gc.collect()
        gc.freeze()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then ends us
        folder = Path(path).parent
        gone = folder.with_name(f"{folder.name}.{os.getpid()}")
        _Server(listener, lambda: folder.rename(gone)).serve()
        shutil.rmtree(gone)


def _import(*packages: str) -> None:
    for name in packages:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    assert threading.active_count() == 1, "a fork takes no threads along"


class _Server:
    """Forks for each request, and reports ends. ``leave`` takes its folder out of the way, so that
    whoever comes later starts another server."""

    def __init__(self, listener: socket.socket, leave: Callable[[], object]) -> None:
        self._listener = listener
        self._leave = leave
        self._lock = Path(listener.getsockname()).with_name("lock")
        self._selector = selectors.DefaultSelector()
        self._running: dict[socket.socket, tuple[int, int]] = {}
        """Pid and its descriptor by the client who waits for it."""
        self._staying: set[socket.socket] = set()
        self._stayed = False

    def serve(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    client, _ = self._listener.accept()
                    self._selector.register(client, selectors.EVENT_READ)
                elif isinstance(key.fileobj, int):
                    self._report_end(key.fileobj)
                elif isinstance(key.fileobj, socket.socket) and key.fileobj.fileno() >= 0:
                    self._hear(key.fileobj)
            if self._stayed and not self._staying and self._has_left():
                return

    def _has_left(self) -> bool:
        """Leaves unless somebody comes: test processes come under this lock."""
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._selector.select(0):
                return False
            self._leave()
            return True

    def _hear(self, client: socket.socket) -> None:
        """A request, or the end of a client."""
        if client in self._running:
            signal.pidfd_send_signal(self._running[client][1], signal.SIGKILL)
            self._selector.unregister(client)
            return
        line, streams = _request(client)
        try:
            if client in self._staying or not line.endswith(b"\n"):  # the client is gone
                self._staying.discard(client)
                self._selector.unregister(client)
                client.close()
                return
            request = json.loads(line)
            if "stay" in request:
                self._staying.add(client)
                self._stayed = True
                return
            child = os.fork()
            if child == 0:
                # Who has a client's socket keeps it from seeing that its own program has ended.
                for one in [key.fileobj for key in self._selector.get_map().values()]:
                    if isinstance(one, socket.socket):
                        one.close()
                    elif isinstance(one, int):
                        os.close(one)
                self._selector.close()
                _be_the_program(request, streams)
            watched = os.pidfd_open(child)
            self._running[client] = child, watched
            self._selector.register(watched, selectors.EVENT_READ)
            with suppress(BrokenPipeError):  # the next event says that the client is gone
                client.sendall(b"%d\n" % child)
        finally:
            for stream in streams:
                os.close(stream)

    def _report_end(self, watched: int) -> None:
        [(client, child)] = [
            (key, pid) for key, (pid, fd) in self._running.items() if fd == watched
        ]
        _, status = os.waitpid(child, 0)
        self._selector.unregister(watched)
        os.close(watched)
        del self._running[client]
        # Neither of the two where the client has gone away before.
        with suppress(KeyError, BrokenPipeError):
            self._selector.unregister(client)
            client.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        client.close()


def _request(client: socket.socket) -> tuple[bytes, list[int]]:
    """A line, or as much as came before the client went away; and the streams."""
    try:
        request, streams, _, _ = socket.recv_fds(client, _REQUEST_BYTES, 16)
        part = request
        while part and not request.endswith(b"\n"):
            part = client.recv(_REQUEST_BYTES)
            request += part
    except ConnectionResetError:
        return b"", []
    return request, streams


def _be_the_program(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Become what the interpreter would have become. Never returns."""
    try:
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        os.chdir(request["folder"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if not _STARTING.isdisjoint(request["arguments"][:4]):
            subprocess._fork_exec = _Seed().fork_in_place_of_exec  # type: ignore[attr-defined]
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    _run(request["arguments"], request["environment"])


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a program with the interpreter's arguments, and exit as it does. Never returns."""
    code = 1
    try:
        os.environ.clear()
        os.environ.update(environment)
        random.seed()
        sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False))
        sys.stdout, sys.stderr = _writer(1), _writer(2)
        code = _code_of(list(arguments))
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream_out in (sys.stdout, sys.stderr):
            with suppress(OSError):  # as at the end of any process whose reader is gone
                stream_out.flush()
        os._exit(code)


def _code_of(arguments: list[str]) -> int:
    safe = arguments[0] == "-P"
    kind, *rest = arguments[1:] if safe else arguments
    first = str(Path(kind).resolve().parent) if kind not in ("-m", "-c", "-") else str(Path.cwd())
    more = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [*([] if safe else [first]), *filter(None, more)]
    sys.path_importer_cache.clear()
    try:
        if kind in ("-c", "-"):
            text = rest.pop(0) if kind == "-c" else sys.stdin.read()
            sys.argv = [kind, *rest]
            exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
        elif kind == "-m":
            sys.argv = rest
            module = sys.modules.get(rest[0])
            if module is not None and not hasattr(module, "__path__"):
                del sys.modules[rest[0]]  # imported already, and now the program itself
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [kind, *rest]
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except KeyboardInterrupt:
        traceback.print_exc()
        _end_by(signal.SIGINT)
    return 0


def _end_by(number: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class _Seed:
    """A fork of a program from before it began, which forks again for each interpreter that the
    program starts: the program itself has threads by then, and SQLite open, and cannot.

    The new process is a child of the program's: the one between the two ends at once, and the
    program adopts what its descendants leave behind (``PR_SET_CHILD_SUBREAPER``).
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if os.fork() == 0:
            ours.close()
            self._grow(theirs)
        theirs.close()
        self._socket = ours

    def fork_in_place_of_exec(
        self, arguments: Sequence[str | bytes], programs: Any, close: Any, kept: Sequence[int],
        folder: Any, environment: Any, p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int,
        errread: int, errwrite: int, errpipe_read: int, errpipe_write: int, *rest: Any,
    ) -> int:  # fmt: skip
        """What ``subprocess`` calls to start a process, its arguments as in CPython 3.11 to 3.13.
        What is not a module for the interpreter is executed."""
        words = [os.fsdecode(one) for one in arguments]
        if words[0] != _INTERPRETER or words[1:2] not in (["-P"], ["-m"]):
            return _exec(
                arguments, programs, close, kept, folder, environment, p2cread, p2cwrite, c2pread,
                c2pwrite, errread, errwrite, errpipe_read, errpipe_write, *rest,
            )  # fmt: skip
        if environment is None:
            given = dict(os.environ)
        else:
            pairs = (os.fsdecode(one).partition("=") for one in environment)
            given = {name: value for name, _, value in pairs}
        ends = (p2cread, c2pwrite, errwrite)
        streams = [number if end < 0 else end for number, end in enumerate(ends)]
        numbers = [one for one in kept if one != errpipe_write]
        request = {
            "arguments": words[1:],
            "environment": given,
            "folder": os.fsdecode(folder) if folder else str(Path.cwd()),
            "kept": numbers,
            "new_session": rest[1],
        }
        said = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(self._socket, [said], [*streams, *numbers])
        self._socket.sendall(said[sent:])
        return int(self._socket.recv(32))

    def _grow(self, orders: socket.socket) -> None:
        """Fork for each order until the program is gone. Never returns."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # whoever waits for the end of the program's output
            os.dup2(nothing, stream)
        while True:
            line, given = _request(orders)
            if not line:
                os._exit(0)
            told, tells = os.pipe()
            between = os.fork()
            if between == 0:
                child = os.fork()
                if child == 0:
                    orders.close()
                    self._begin(json.loads(line), given)
                os.write(tells, b"%d" % child)
                os._exit(0)
            os.waitpid(between, 0)  # by now the program is the parent of the new process
            orders.sendall(os.read(told, 32))
            for one in (told, tells, *given):
                os.close(one)

    @staticmethod
    def _begin(request: Mapping[str, Any], given: list[int]) -> None:
        if request["new_session"]:
            os.setsid()
        # First out of the way of the numbers that are wanted.
        high = [fcntl.fcntl(one, fcntl.F_DUPFD, 500) for one in given]
        for target, one in zip((0, 1, 2, *request["kept"]), high, strict=True):
            os.dup2(one, target)
        last = 2
        for one in sorted(request["kept"]):
            os.closerange(last + 1, one)
            last = one
        os.closerange(last + 1, os.sysconf("SC_OPEN_MAX"))
        _be_the_program(request, ())


def _writer(descriptor: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
    return io.TextIOWrapper(raw, line_buffering=os.isatty(descriptor) or descriptor == 2)


if __name__ == "__main__":
    main(sys.argv[1])
