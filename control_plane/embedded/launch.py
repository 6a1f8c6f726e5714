"""Turning a spec into a running process that belongs to nobody."""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

from control_plane.embedded.binaries import REDIS_SERVER, require
from control_plane.embedded.birth import birth
from control_plane.embedded.config import render_config
from control_plane.embedded.endpoint import Endpoint, choose_endpoint
from control_plane.embedded.errors import DataFolderUnusable
from control_plane.embedded.filelock import lock
from control_plane.embedded.folder import DataFolder
from control_plane.embedded.record import Record, write_private
from control_plane.embedded.spec import Fsync, ServerSpec

# Those who ask whether a server lives touch its lock for a moment each.
_ASKERS_S = 5.0


async def launch(spec: ServerSpec, folder: DataFolder, fsync: Fsync, runtime: Path | None) -> str:
    """Starts redis-server on ``folder``; its URL. The caller holds ``folder.start_lock``.

    The process has its own session (no terminal's Ctrl-C reaches it), logs to the folder, and
    inherits the locked descriptor that tells everybody else that it lives.
    Raises BinariesMissing, or DataFolderUnusable if the folder is in use after all.
    """
    program, *modules = require(REDIS_SERVER, *(module.binary for module in spec.modules))
    try:
        held = await lock(folder.server_lock, _ASKERS_S)
    except TimeoutError as error:
        raise DataFolderUnusable(folder=folder.path, reason="another server is using it") from error
    try:
        endpoint = choose_endpoint(folder.path, runtime)
        folder.forget(endpoint.socket)
        loads = [
            (path, module.arguments) for path, module in zip(modules, spec.modules, strict=True)
        ]
        listens = endpoint.hidden() if spec.loads_alone else endpoint
        config = render_config(folder.path, listens, loads, fsync, spec.rewrite_from)
        write_private(folder.config, config)
        log = folder.open_log()
        try:
            record = _record(spec, endpoint, listens, log)
            # Before the process exists, so that a starter that dies half-way leaves no riddle.
            record.write(folder.record)
            pid = _spawn([str(program), str(folder.config)], folder, held, log)
        finally:
            os.close(log)
        replace(record, pid=pid, born=birth(pid)).write(folder.record)
    finally:
        # Our copy only: the server holds the lock through its own.
        os.close(held)
    return endpoint.url


def _record(spec: ServerSpec, endpoint: Endpoint, listens: Endpoint, log: int) -> Record:
    """What is known of a server before it is started; ``log`` is its log, opened for it."""
    if not spec.loads_alone:
        return Record(endpoint.url)
    hidden = None if listens.socket is None else str(listens.socket)
    return Record(endpoint.url, log_start=os.fstat(log).st_size, hidden=hidden)


def _spawn(command: list[str], folder: DataFolder, held: int, log: int) -> int:
    """The pid of the new process. Should it end before us, it leaves no zombie."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=folder.path,
        # Not the caller's environment: it may hold API keys, and the server lives long.
        env={"LC_ALL": "C", "PATH": os.defpath},
        start_new_session=True,
        pass_fds=(held,),
    )
    threading.Thread(target=process.wait, name=f"reap-{process.pid}", daemon=True).start()
    return process.pid
