"""The memory that simulated agents have: the real one, in a file that all processes share.

What runs in threads elsewhere runs at once here (``VirtualLoop.run_in_executor``), so that one seed
gives one history. A process may die or be stopped on either side of each transaction.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dcf.agents import (
    Assignment,
    Observer,
    RememberedAgents,
    Report,
    TaskError,
    TaskTurns,
    ToolCaller,
)
from dcf.memory import Database, Memory, Source, TurnRecord
from dcf.simulation.process import Process
from dcf.simulation.virtual_loop import VirtualLoop, run_virtually
from dcf.simulation.weather import Weather
from dcf.worker import Beat, WorkerAgents
from dcf.workflow import Failed, Outcome, Task

T = TypeVar("T")
Perform = Callable[[Task, Beat], Any]

_EPOCH_MS = 1_750_000_000_000
_BINDINGS: tuple[dict[str, Any], ...] = ({}, {"lifecycle": {"mode": "pooled"}})
_RATE = 0.03
_MOST_CRASHES = 6
_ALL = 1_000_000


class Shelf:
    """The memory file of a simulation, and what happens to those who use it. Everything is drawn
    from ``rng``, so that a seed with agents is otherwise the one without."""

    def __init__(self, rng: random.Random, weather: Weather, ttl_s: float) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dcf-sim-")
        self.source = Source(Path(self._folder.name) / "memory.db")
        self._rng = rng
        self._weather = weather
        self._ttl_s = ttl_s
        self._crashes = 0
        self.answered_outside: set[str] = set()
        """The holders of turns that hand on a token: somebody else's word ends their Tasks."""

    def close(self) -> None:
        self._folder.cleanup()

    async def happen(self, process: Process) -> None:
        """What happens to ``process`` between two lines of its code."""
        rng = self._rng
        await asyncio.sleep(rng.expovariate(2000))
        if not self._weather.is_calm and rng.random() < _RATE:
            if rng.random() < 0.3 and self._crashes < _MOST_CRASHES:
                self._crashes += 1
                process.kill()
            else:
                process.stop(self._ttl_s * rng.choice((0.3, 1.0, 1.0, 2.5)) + rng.uniform(0, 1))
        await process.not_stopped()
        if process.dead:
            # Not for ever: transactions are in tasks of their own, which nobody would end.
            raise asyncio.CancelledError

    @asynccontextmanager
    async def opened(self, process: Process) -> AsyncIterator[Memory]:
        """The memory, for one process: its clock is as wrong as the process's own."""
        ids = random.Random(self._rng.getrandbits(64))
        async with AsyncExitStack() as stack:
            database = await _Database.open(self.source)
            stack.push_async_callback(database.close)
            memory = await stack.enter_async_context(
                Memory.over(
                    database,
                    clock=lambda: _EPOCH_MS + int(process.now() * 1000),
                    new_id=lambda kind: f"{kind}-{ids.getrandbits(64):016x}",
                    embedder="none",
                )
            )
            database.between = lambda: self.happen(process)
            try:
                yield memory
            finally:
                database.between = None

    def turns(self) -> list[TurnRecord]:
        """All turns of all agents, once everything is over."""

        async def read() -> list[TurnRecord]:
            async with self.opened(Process("judge")) as memory:
                return [
                    turn
                    for agent in await memory.agents.list(limit=_ALL)
                    for turn in await memory.turns.list(agent.id, limit=_ALL)
                ]

        self._weather.calm()
        return run_virtually(VirtualLoop(), read())


class _Database(Database):
    """In which something may happen ``between`` two transactions."""

    between: Callable[[], Any] | None = None

    async def _in(self, threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        # What is closed meanwhile is still in the hands of whoever asks it now.
        between = self.between
        if between is None:
            return await super()._in(threads, call)
        await between()
        result = call()
        await between()
        return result


class RememberingAgents:
    """Does Tasks in turns of agents that have a memory; ``perform`` is the work itself."""

    def __init__(self, memory: Memory, process: Process, perform: Perform, shelf: Shelf) -> None:
        # What is asked of a runtime here are its agents and their turns.
        runtime: Any = _Runtime(memory)
        self._workers = WorkerAgents(runtime)
        self._process = process
        self._perform = perform
        self._shelf = shelf

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        try:
            return await self._performed(task, beat)
        except asyncio.CancelledError:
            if self._process.dead:
                await self._process.die()
            raise

    async def _performed(self, task: Task, beat: Beat) -> Outcome:
        outcome: Outcome | None = None

        async def work(*_: Any) -> Any:
            nonlocal outcome
            outcome = await self._perform(task, beat)
            if isinstance(outcome, Failed):
                raise TaskError(str(outcome.error), str(outcome.cause))

        if task.token is not None:
            self._shelf.answered_outside.add(f"{task.lease.workflow_id}/{task.lease.path}")
        # Half of the states have an agent of their own, half one of a pool.
        binding = _BINDINGS[len(task.lease.path) % 2]
        bound = replace(task, state=replace(task.state, binding=binding))
        performer = await self._workers.performer(bound)
        assignment = Assignment(task.state.name, "", {}, ())
        try:
            await performer.perform(assignment, work, lambda _event: None)
        except TaskError:
            if outcome is None:
                raise
        if outcome is None:
            raise RuntimeError("a turn without work")
        return outcome


class _Runtime(RememberedAgents):
    """Agents whose one tool is the work."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._turns = TaskTurns(memory)

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer, *, agent_id: str
    ) -> Report:
        async def work(_given: Assignment, _call: ToolCaller, _observe: Observer) -> Report:
            nothing: Any = None
            await call_tool(nothing, {})
            return Report({"did": assignment.state}, "")

        agent = await self.get(agent_id)
        return await self._turns.perform(agent, assignment, call_tool, observe, work)
