"""A process that has imported ``dcf`` and forks itself for every command.

Tests give hundreds of short commands, and most of what each costs is importing. A forked command
is a process of its own, with its own arguments, environment, folder and streams; only its imports
were done before. Such a process ends when its command has: what the interpreter does at a start
and at an end is tested by real processes (``Dcf.start``, ``dcf up`` and all that they start).

``python command_server.py SOCKET`` prints a line when it listens. A client connects, sends one JSON
line ``{"arguments", "environment", "folder"}`` with its stdin, stdout and stderr as file
descriptors. It receives the pid of its command at once and the exit code at the end, each as a
decimal number on a line. A client that goes away kills its command.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any

_REQUEST_BYTES = 1 << 20


def main(path: str) -> None:
    """Listen on ``path`` until stdin ends, that is until whoever started this is gone."""
    _import_commands()
    # What is there now stays: looking at it would make each child copy its pages.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then ends us
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        _serve(listener)


def _import_commands() -> None:
    """The command line with everything that its commands import when they run."""
    package = importlib.import_module("dcf.cli")
    for module in pkgutil.walk_packages(package.__path__, "dcf.cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert threading.active_count() == 1, "a fork takes no threads along"


def _serve(listener: socket.socket) -> None:
    running: dict[socket.socket, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is listener:
                    client, _ = listener.accept()
                    selector.register(client, selectors.EVENT_READ)
                elif isinstance(key.fileobj, int):
                    _report_end(key.fileobj, running, selector)
                elif isinstance(key.fileobj, socket.socket) and key.fileobj.fileno() >= 0:
                    _hear(key.fileobj, running, selector, listener)


def _hear(
    client: socket.socket,
    running: dict[socket.socket, tuple[int, int]],
    selector: selectors.BaseSelector,
    listener: socket.socket,
) -> None:
    """A request, or the end of a client."""
    if client in running:
        signal.pidfd_send_signal(running[client][1], signal.SIGKILL)
        selector.unregister(client)
        return
    request, streams = _request(client)
    if not request.endswith(b"\n"):  # nobody waits for an answer any more
        for stream in streams:
            os.close(stream)
        selector.unregister(client)
        client.close()
        return
    child = os.fork()
    if child == 0:
        kept = [listener, client, *running]
        _be_the_command(json.loads(request), streams, kept)
    for stream in streams:
        os.close(stream)
    watched = os.pidfd_open(child)
    running[client] = child, watched
    selector.register(watched, selectors.EVENT_READ)
    with suppress(BrokenPipeError):  # the next event says that the client is gone
        client.sendall(b"%d\n" % child)


def _request(client: socket.socket) -> tuple[bytes, list[int]]:
    """A line, or as much as came before the client went away; and the streams."""
    request, streams, _, _ = socket.recv_fds(client, _REQUEST_BYTES, 3)
    part = request
    while part and not request.endswith(b"\n"):
        part = client.recv(_REQUEST_BYTES)
        request += part
    return request, streams


def _report_end(
    watched: int,
    running: dict[socket.socket, tuple[int, int]],
    selector: selectors.BaseSelector,
) -> None:
    [(client, child)] = [(key, pid) for key, (pid, fd) in running.items() if fd == watched]
    _, status = os.waitpid(child, 0)
    selector.unregister(watched)
    os.close(watched)
    del running[client]
    # Neither of the two where the client has gone away before.
    with suppress(KeyError, BrokenPipeError):
        selector.unregister(client)
        client.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    client.close()


def _be_the_command(request: dict[str, Any], streams: list[int], kept: list[socket.socket]) -> None:
    """Become the process that ``python -m dcf.cli`` would have been. Never returns."""
    code = 1
    try:
        for one in kept:
            one.close()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random.seed()
        sys.argv = ["dcf", *request["arguments"]]
        sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False))
        sys.stdout, sys.stderr = _writer(1), _writer(2)
        code = _code_of_main()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream_out in (sys.stdout, sys.stderr):
            with suppress(OSError):  # as at the end of any process whose reader is gone
                stream_out.flush()
        os._exit(code)


def _writer(descriptor: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
    return io.TextIOWrapper(raw, line_buffering=os.isatty(descriptor) or descriptor == 2)


def _code_of_main() -> int:
    from dcf.cli import main as command

    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    main(sys.argv[1])
