"""Worker processes as a deployment keeps them: whoever ends is started again."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from tests.chaos import solo_processes

_AGAIN_S = 0.5
# Solo processes live for seconds, and only while there are suspects: faults wait for one.
_NO_SOLO_S = 20.0
_LOOKS_S = 0.05


class Crew:
    """``count`` workers. ``own`` counts the ends that were not caused from here. ``why_no_solo``
    says why their solo processes, each for one suspect state, cannot be found here; "" where they
    can."""

    def __init__(self, count: int, env: Mapping[str, str], folder: Path, lease_s: float) -> None:
        self._count = count
        self._env = dict(env)
        self._folder = folder
        self._lease_s = lease_s
        self._living: dict[int, asyncio.subprocess.Process] = {}
        self._killed: set[int] = set()
        self._keeping: list[asyncio.Task[None]] = []
        self._ending = False
        # Each is stopped once, so that it cannot be stopped for longer than one fault lasts.
        self._stopped_solos: set[int] = set()
        self._waiting = asyncio.Lock()
        self.why_no_solo = solo_processes.why_not()
        self.own = 0
        self.starts = 0

    def open(self, log: TextIO) -> None:
        self._keeping = [
            asyncio.create_task(self._keep(number, log)) for number in range(self._count)
        ]

    async def close(self, patience_s: float) -> int:
        """Drain them; how many had to be killed."""
        self._ending = True
        for process in self._all():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        _, late = await asyncio.wait(self._keeping, timeout=patience_s)
        for process in self._all():
            process.kill()
        await asyncio.gather(*self._keeping)
        return len(late)

    def kill(self, rng: random.Random) -> bool:
        """SIGKILL for one of them; whether there was one."""
        process = self._any(rng)
        if process is not None:
            self._kill(process)
        return process is not None

    async def freeze(self, rng: random.Random, seconds: float) -> bool:
        """SIGSTOP for one of them, for a while."""
        process = self._any(rng)
        if process is None:
            return False
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
        return True

    async def freeze_solo(self, rng: random.Random, seconds: float) -> bool:
        """SIGSTOP for a solo process, for a while, and once in its life; whether there was one."""
        if (found := await self._a_solo(rng)) is None:
            return False
        worker, solo = found
        with solo_processes.held(solo, worker.pid) as process:
            if process is None or not process.send(signal.SIGSTOP):
                return False
            self._stopped_solos.add(solo)
            try:
                await asyncio.sleep(seconds)
            finally:
                process.send(signal.SIGCONT)
        return True

    async def orphan_solo(self, rng: random.Random) -> bool:
        """SIGKILL for a worker that has a solo process, which stays; whether there was one."""
        if (found := await self._a_solo(rng)) is None:
            return False
        self._kill(found[0])
        return True

    async def kill_both(self, rng: random.Random) -> bool:
        """SIGKILL for a solo process and its worker, as where their container is killed; whether
        there were two. Nobody is there to tell of that death, so it is charged to no state."""
        if (found := await self._a_solo(rng)) is None:
            return False
        worker, solo = found
        with solo_processes.held(solo, worker.pid) as process:
            # Stopped first, so that it does not give its lease back, and killed last, so that its
            # worker does not see it.
            if process is None or not process.send(signal.SIGSTOP):
                return False
            try:
                self._kill(worker)
                await worker.wait()
            finally:
                process.send(signal.SIGKILL)
        return True

    def _kill(self, process: asyncio.subprocess.Process) -> None:
        self._killed.add(process.pid)
        process.kill()

    def _any(self, rng: random.Random) -> asyncio.subprocess.Process | None:
        living = self._all()
        return rng.choice(living) if living else None

    def _all(self) -> list[asyncio.subprocess.Process]:
        return [p for p in self._living.values() if p.returncode is None]

    async def _a_solo(self, rng: random.Random) -> tuple[asyncio.subprocess.Process, int] | None:
        """A solo process that was not stopped yet, and its worker; None where there is none for a
        while, or another fault waits for one."""
        if self._waiting.locked():
            return None
        async with self._waiting:
            for _ in range(round(_NO_SOLO_S / _LOOKS_S)):
                if found := self._solos():
                    return rng.choice(found)
                await asyncio.sleep(_LOOKS_S)
        return None

    def _solos(self) -> list[tuple[asyncio.subprocess.Process, int]]:
        return [
            (worker, solo)
            for worker in self._all()
            for solo in solo_processes.solos_of(worker.pid)
            if solo not in self._stopped_solos
        ]

    async def _keep(self, number: int, log: TextIO) -> None:
        while not self._ending:
            self.starts += 1
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "dcf.cli", "worker"),
                *("--handlers", "tests.chaos.effects:HANDLERS"),
                *("--lease-ttl", f"{self._lease_s:g}", "--concurrency", "6"),
                *("--name", f"w{number}-{self.starts}"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, **self._env},
            )
            self._living[number] = process
            if self._ending:
                # The end began during its start, so it was not told yet.
                process.terminate()
            await process.wait()
            del self._living[number]
            if process.pid not in self._killed and not self._ending:
                self.own += 1
            if not self._ending:
                await asyncio.sleep(_AGAIN_S)
