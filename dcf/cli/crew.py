"""Processes that work: those of one command, which end with it, and those in the background."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from dcf.cli.background import Background, BackgroundFolder
from dcf.cli.settings import Settings

_DRAIN_S = 15.0

Kind = Literal["worker", "companions"]


def worker_command(name: str, *, pool: str, lease_s: float, attached: bool) -> list[str]:
    """The command line of a worker process. ``-P``: modules of the folder in which somebody happens
    to stand must not be taken for the library's."""
    command = [
        sys.executable, "-P", "-m", "dcf.cli", "worker",
        "--name", name, "--pool", pool, "--lease-ttl", f"{lease_s:g}",
    ]  # fmt: skip
    return [*command, "--attached"] if attached else command


def host_command(
    name: str, *, pool: str, lease_s: float, attached: bool, session_id: str | None = None
) -> list[str]:
    """The command line of a companion host, of one session or of all; see ``worker_command``."""
    command = [
        sys.executable, "-P", "-m", "dcf.cli", "companion",
        "--name", name, "--pool", pool, "--lease-ttl", f"{lease_s:g}",
    ]  # fmt: skip
    only = [] if session_id is None else ["--session", session_id]
    return [*command, *only, *(["--attached"] if attached else [])]


class Crew:
    """Workers of one command, and its companion hosts. They drain when it closes their standard
    input, even by dying.

    ``redis_url`` is handed on through the environment, never on a command line.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        redis_url: str,
        pool: str = "default",
        lease_s: float = 30.0,
    ) -> None:
        self._env = {**settings.env, "DCF_REDIS_URL": redis_url}
        self.home = settings.home
        self.objects = settings.objects
        self._log = settings.logs / "run-workers.log"
        self._pool = pool
        self._lease_s = lease_s
        self._mark = secrets.token_hex(2)
        self._count = 0
        self.members: dict[str, subprocess.Popen[bytes]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.dismiss()

    def hire(self, count: int, names: Sequence[str] = ()) -> None:
        """Start ``count`` workers; they take work as soon as they are up."""
        for number in range(count):
            self._count += 1
            name = names[number] if names else f"w{self._count}-{self._mark}"
            self._spawn(
                name, worker_command(name, pool=self._pool, lease_s=self._lease_s, attached=True)
            )

    def hire_host(self, session_id: str) -> str:
        """Start a host for the companions of this session; its name."""
        self._count += 1
        name = f"h{self._count}-{self._mark}"
        lease_s, pool = self._lease_s, self._pool
        self._spawn(
            name,
            host_command(name, pool=pool, lease_s=lease_s, session_id=session_id, attached=True),
        )
        return name

    @property
    def living(self) -> list[str]:
        """The names of those that run."""
        return [name for name, process in self.members.items() if process.poll() is None]

    def kill(self, name: str) -> int:
        """SIGKILL one of them, as a crash would; its process id."""
        process = self.members[name]
        process.kill()
        process.wait()
        return process.pid

    async def dismiss(self) -> None:
        """Let all finish what they have in work, and end; who does not end in time is killed."""
        for process in self.members.values():
            _hang_up(process)
        try:
            async with asyncio.timeout(_DRAIN_S):
                for process in self.members.values():
                    await asyncio.to_thread(process.wait)
        except TimeoutError:
            for process in self.members.values():
                process.kill()

    def _spawn(self, name: str, command: list[str]) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self.members[name] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._env,
                # Ctrl-C reaches the command alone: it decides what becomes of its workers.
                start_new_session=True,
            )


class Garrison:
    """Background workers of a home (``dcf up --workers``), or its companion hosts
    (``dcf up --companions``)."""

    def __init__(self, folder: BackgroundFolder, kind: Kind = "worker") -> None:
        self._folder = folder
        self._kind = kind
        self._command = worker_command if kind == "worker" else host_command

    def all(self) -> list[Background]:
        """Those that live."""
        begins = f"{self._kind}-"
        return [process for process in self._folder.all() if process.name.startswith(begins)]

    def strangers(self, pool: str, generated: Path) -> list[Background]:
        """Those that work for ``pool`` with the skills of another generated folder."""
        readers = [one for one in self.all() if one.details.get("pool") == pool]
        return [one for one in readers if one.details.get("generated") != str(generated)]

    async def raise_to(
        self, count: int, env: dict[str, str], *, pool: str, lease_s: float, generated: Path
    ) -> list[Background]:
        """Start as many as ``pool`` is short of ``count`` with these skills; those started now."""
        living = self.all()
        taken = {process.name for process in living}
        ours = [
            one for one in living
            if (one.details.get("pool"), one.details.get("generated")) == (pool, str(generated))
        ]  # fmt: skip
        numbers = range(1, count + len(taken) + 1)
        free = [name for number in numbers if (name := f"{self._kind}-{number}") not in taken]
        started = []
        for name in free[: max(0, count - len(ours))]:
            unique = f"{name}-{secrets.token_hex(2)}"
            command = self._command(unique, pool=pool, lease_s=lease_s, attached=False)
            started.append(await self._folder.start(name, command, env))
        return started

    async def dismiss(self) -> list[tuple[Background, bool]]:
        """Drain all at once; each with whether it ended by itself."""
        members = self.all()
        ends = await asyncio.gather(*(self._folder.stop(one, _DRAIN_S) for one in members))
        return list(zip(members, ends, strict=True))


def name_of(process: Background) -> str:
    """What a background worker or host calls itself in leases and in Redis."""
    return str(process.details.get("worker") or process.details.get("host"))


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
