"""Conductors and companion hosts that are processes, and that die when they are told to.

Run as a program it forks a process for each order, without the cost of its imports: a JSON object
on a line of stdin, its answer on a line of stdout. Used from tests it is ``Mortals``.

- ``{"do": "conduct", "children": [...]}``: processes that conduct at the same time, each as
  ``_conduct`` says; answers with their exit codes when all have ended.
- ``{"do": "host", "name", "most"}``: a companion host that holds each task until it is let go, see
  ``_Held``; answers with its pid.
- ``{"do": "kill", "pid"}``: SIGKILL; answers when it is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from commands import python
from integration.sessions.hosts import ME, hosts_on

from control_plane import RedisBackend, Store
from control_plane.script import Script
from dcf.sessions import Sessions
from dcf.sessions.conductor import Conductor
from dcf.sessions.guidance import Guidance
from dcf.workflow import Failed, Outcome, Succeeded, Task

# Long enough for a busy machine, short enough to wait for.
TTL_MS = 1_500


class Mortals:
    """The processes of one test; those that live are killed at the end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._hosts: set[int] = set()

    async def conduct(self, *children: dict[str, Any]) -> list[int]:
        """Let processes conduct, all at the same time; their exit codes."""
        found: list[int] = await self._ask(do="conduct", children=children)
        return found

    async def host(self, name: str, most: int = 50) -> int:
        """A host at work; its pid."""
        pid: int = await self._ask(do="host", name=name, most=most)
        self._hosts.add(pid)
        return pid

    async def kill(self, pid: int) -> None:
        self._hosts.remove(pid)
        await self._ask(do="kill", pid=pid)

    async def end(self) -> None:
        for pid in list(self._hosts):
            await self.kill(pid)
        self._process.kill()
        await self._process.wait()

    async def _ask(self, **order: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        answer = await self._process.stdout.readline()
        assert answer, "it died"
        return json.loads(answer)


@asynccontextmanager
async def mortals_on(redis_url: str) -> AsyncIterator[Mortals]:
    """What forks them, on this Redis."""
    tests = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        *(python(), __file__, redis_url),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)])},
    )
    mortals = Mortals(process)
    try:
        yield mortals
    finally:
        await mortals.end()


def go(task_id: str) -> str:
    """The key that lets a task go: ``ok``, or the error that it fails with."""
    return f"test:go:{task_id}"


BEGUN, EFFECTS = "test:begun", "test:effects"
"""Lists: ``companion task host`` of each beginning, and the idempotency key of each effect."""
READY, START = "test:ready", "test:start"
"""How many conductors wait for each other, and the list from which each takes its start."""


class _Held:
    """Performs a task when it is let go; one that is let go with an error fails."""

    def __init__(self, backend: RedisBackend, name: str) -> None:
        self._backend = backend
        self._name = name

    async def perform(self, task: Task, _beat: object) -> Outcome:
        command = self._backend.command
        task_id = task.lease.workflow_id
        await command("RPUSH", BEGUN, f"{task.lease.owner} {task_id} {self._name}")
        while (found := await command("GET", go(task_id))) is None:
            await asyncio.sleep(0.02)
        if found != "ok":
            return Failed(found, "as it was told")
        await command("RPUSH", EFFECTS, task.lease.idempotency_key)
        return Succeeded({"did": task_id}, "done")


class _Mortal(RedisBackend):
    """Kills its process with the call number ``last``, before it is sent or after its answer came;
    with none never, and ``calls`` says how many there were."""

    calls = 0
    last: int | None = None
    before = True
    counts = False

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        self._count(before=True)
        answer = await super().run(script, keys, args)
        self._count(before=False)
        return answer

    async def command(self, *args: str | int) -> Any:
        self._count(before=True)
        answer = await super().command(*args)
        self._count(before=False)
        return answer

    def _count(self, *, before: bool) -> None:
        if not self.counts:
            return
        self.calls += before
        if self.calls == self.last and self.before == before:
            os.kill(os.getpid(), signal.SIGKILL)


async def _conduct(
    redis_url: str,
    *,
    session: str,
    conductor: str = ME,
    says: Sequence[tuple[str, str]] = (),
    attends: bool = False,
    last: int | None = None,
    before: bool = True,
    together: int = 1,
) -> None:
    """Say (request, text) one after the other, then attend once. It dies with the call number
    ``last`` of all that; otherwise it tells how many there were, in ``test:calls``. ``together`` is
    how many begin at the same moment."""
    backend = _Mortal.from_url(redis_url)
    assert isinstance(backend, _Mortal)
    backend.last, backend.before = last, before
    sessions = Sessions(Store(backend))
    one = Conductor(sessions, Guidance(sessions), conductor)
    await _wait_for_all(backend, together)
    backend.counts = True
    for request, text in says:
        await one.turn(session, text, request_id=request)
    if attends:
        await one.attend(session)
    backend.counts = False
    await backend.command("SET", "test:calls", backend.calls)
    await backend.close()


async def _wait_for_all(backend: RedisBackend, count: int) -> None:
    if await backend.command("INCR", READY) == count:
        await backend.command("DEL", READY)
        await backend.command("RPUSH", START, *["go"] * count)
    await backend.command("BLPOP", START, 5)


async def _host(redis_url: str, name: str, most: int) -> None:
    async with hosts_on(redis_url) as hosts:
        held = _Held(RedisBackend.from_url(redis_url), name)
        hosts.host(held, name=name, most=most, ttl_ms=TTL_MS)
        await asyncio.Event().wait()


def _fork(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """The pid of a process that does ``work``."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        asyncio.run(work())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _obey(redis_url: str, order: dict[str, Any]) -> Any:
    match order.pop("do"):
        case "conduct":
            many = order["children"]
            pids = [_fork(partial(_conduct, redis_url, together=len(many), **one)) for one in many]
            return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        case "host":
            return _fork(partial(_host, redis_url, **order))
        case "kill":
            os.kill(order["pid"], signal.SIGKILL)
            return os.waitpid(order["pid"], 0)[0]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(_obey(sys.argv[1], json.loads(line))), flush=True)
