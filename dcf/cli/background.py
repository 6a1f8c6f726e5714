"""Processes in the background: started once, found again by anybody, ended by name.

Each has a note (JSON) beside a lock file that the process itself holds open: a process id may be
given to a stranger later, this lock cannot.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dcf.cli.trouble import EnvironmentTrouble

_LOOK_S = 0.03
_LOOKS = 5
_START_S = 30.0
_KILL_S = 5.0
_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Background:
    """A living process. ``details`` is what its ready line said (``url``, ``worker`` …)."""

    name: str
    pid: int
    log: str
    details: Mapping[str, Any] = field(default_factory=dict)


class BackgroundFolder:
    """The background processes noted in ``notes``, logging to ``logs``."""

    def __init__(self, notes: Path, logs: Path) -> None:
        self._notes = notes
        self._logs = logs

    def find(self, name: str) -> Background | None:
        """The process of this name if it lives."""
        if not self._lives(name):
            return None
        try:
            note = json.loads(self._note(name).read_text(encoding="utf-8"))
            return Background(**note)
        except (OSError, ValueError, TypeError):
            # Being started this moment, or the note was damaged: it cannot be named.
            return None

    def all(self) -> list[Background]:
        """Every one that lives, by name."""
        names = sorted(path.stem for path in self._notes.glob("*.json"))
        return [found for name in names if (found := self.find(name)) is not None]

    def last_details(self, name: str) -> Mapping[str, Any]:
        """What the ready line of the last process of this name said, whether it lives or not."""
        try:
            note = json.loads(self._note(name).read_text(encoding="utf-8"))
            details: Mapping[str, Any] = note["details"]
            return details
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    async def start(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> Background:
        """Start ``command`` and wait for its ready line (JSON with ``event: ready`` on stdout).

        Raises EnvironmentTrouble when it ends before, or does not come up.
        """
        self._notes.mkdir(parents=True, exist_ok=True)
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{name}.log"
        log.touch()
        before = log.stat().st_size
        async with self._held(name) as lock:
            # What the former one said does not hold for this one.
            self._note(name).unlink(missing_ok=True)
            process = _spawn(command, env, log, lock)
        try:
            async with asyncio.timeout(_START_S):
                while (details := _ready_line(log, before)) is None:
                    if process.poll() is not None:
                        raise _did_not_start(name, "it ended", log, before)
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            process.kill()
            raise _did_not_start(name, f"not ready in {_START_S:g} s", log, before) from None
        found = Background(name, process.pid, str(log), details)
        draft = self._note(name).with_suffix(".new")
        draft.write_text(json.dumps(asdict(found)), encoding="utf-8")
        draft.replace(self._note(name))
        # Should it end before us, it leaves no zombie.
        threading.Thread(target=process.wait, daemon=True).start()
        return found

    async def stop(self, process: Background, grace_s: float) -> bool:
        """End a process: SIGTERM, after ``grace_s`` SIGKILL. False when it had to be killed."""
        clean = True
        if self._lives(process.name):
            os.kill(process.pid, signal.SIGTERM)
            clean = await self._ends_within(process.name, grace_s)
            if not clean and self._lives(process.name):
                os.kill(process.pid, signal.SIGKILL)
                await self._ends_within(process.name, _KILL_S)
        return clean

    @asynccontextmanager
    async def _held(self, name: str) -> AsyncIterator[int]:
        """A descriptor that holds the lock of this name. Raises EnvironmentTrouble."""
        descriptor = os.open(self._lock(name), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            for _ in range(_LOOKS):
                with suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                # Somebody may only look whether it lives, which is over at once.
                await asyncio.sleep(_LOOK_S)
            else:
                hint = "somebody else starts it just now; try again"
                raise EnvironmentTrouble("busy", f"{name} is being started", hint)
            yield descriptor
        finally:
            # Our copy only: the process that was started keeps the lock through its own.
            os.close(descriptor)

    def _lives(self, name: str) -> bool:
        """Whether its lock is held."""
        try:
            descriptor = os.open(self._lock(name), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    async def _ends_within(self, name: str, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while self._lives(name):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            return False
        return True

    def _note(self, name: str) -> Path:
        return self._notes / f"{name}.json"

    def _lock(self, name: str) -> Path:
        return self._notes / f"{name}.lock"


def _spawn(
    command: Sequence[str], env: Mapping[str, str], log: Path, lock: int
) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            start_new_session=True,
            pass_fds=(lock,),
        )


def _ready_line(log: Path, start: int) -> dict[str, Any] | None:
    """What the process said when it was ready, in ``log`` after byte ``start``."""
    with log.open("rb") as file:
        file.seek(start)
        for line in file:
            if line.startswith(b"{") and b'"ready"' in line and line.endswith(b"\n"):
                said: dict[str, Any] = json.loads(line)
                if said.get("event") == "ready":
                    return said
    return None


def _did_not_start(name: str, reason: str, log: Path, start: int) -> EnvironmentTrouble:
    with log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - _TAIL_BYTES))
        tail = file.read().decode(errors="replace").strip()
    return EnvironmentTrouble(
        "start_failed", f"{name} did not start: {reason}. {tail}", f"the whole log is in {log}"
    )
