"""A stage for whole runs in one process: the twin, workers, and time that jumps.

``@staged`` makes a test of ``async def test_…(stage)``: waits, retries and lease times cost no
time, and whatever breaks inside a worker fails the test.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import itertools
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from control_plane import HintQueue, StateDocument, Store, history
from control_plane.twin import Twin
from dcf import asl, workflow
from dcf.simulation.virtual_loop import VirtualLoop, run_virtually
from dcf.skills import SkillCatalog
from dcf.worker import AgentPerformer, Handler, LeaseKeeper, Performer, Worker, WorkerConfig
from dcf.workflow import Choreographer, InvalidWorkflow, Objects, Result, WorkflowDocument

EPOCH_S = 1_790_000_000
RUN = "run-1"
_LONGEST_RUN_S = 3600.0

Scenario = Callable[..., Awaitable[None]]


def staged(scenario: Scenario) -> Callable[..., None]:
    """Run ``scenario`` with a fresh ``stage`` on virtual time."""

    @functools.wraps(scenario)
    def test(*args: Any, **kwargs: Any) -> None:
        loop = VirtualLoop()
        run_virtually(loop, _perform(Stage(loop), scenario, args, kwargs))

    signature = inspect.signature(scenario)
    rest = [value for name, value in signature.parameters.items() if name != "stage"]
    test.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    del test.__wrapped__  # type: ignore[attr-defined]
    return test


async def _perform(stage: Stage, scenario: Scenario, args: Any, kwargs: Any) -> None:
    try:
        await scenario(*args, stage=stage, **kwargs)
    finally:
        await stage.close()
    assert stage.defects == []


class ReadTwin(Twin):
    """A twin that also tells who reads its queue, which only a server knows."""

    def __init__(
        self, clock: Callable[[], int], readers: Callable[[], list[str]], **options: Any
    ) -> None:
        super().__init__(clock, **options)
        self.readers = readers

    async def command(self, *args: str | int) -> Any:
        if args[:2] == ("XINFO", "CONSUMERS"):
            return [["name", name, "pending", 0, "idle", 0] for name in self.readers()]
        return await super().command(*args)


class Stage:
    """A twin whose clock is the loop's, its store, and the workers on it."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self._tasks: dict[Worker, list[asyncio.Task[None]]] = {}
        self.twin = ReadTwin(
            lambda: round((EPOCH_S + loop.now) * 1_000_000), self.names, strict_keys=False
        )
        self._ids = itertools.count(1)
        self.store = self.new_store()
        self.defects: list[BaseException] = []
        loop.set_exception_handler(self._note_defect)

    def names(self) -> list[str]:
        """The workers at work."""
        return [worker.name for worker in self._tasks]

    def new_store(self, **options: Any) -> Store:
        """A store with numbered ids."""
        backend = options.pop("backend", self.twin)
        return Store(backend, tokens=lambda: f"{next(self._ids):032x}", **options)

    def worker(
        self,
        handlers: Mapping[str, Handler] | None = None,
        *,
        name: str = "w1",
        agents: AgentPerformer | None = None,
        store: Store | None = None,
        keeper: LeaseKeeper | None = None,
        objects: Objects | asl.MemoryObjects | None = None,
        aws_limits: bool = False,
        **config: Any,
    ) -> Worker:
        """A worker at work."""
        store = store or self.store
        kept = keeper or LeaseKeeper(store, now=self.loop.time)
        worker = Worker(
            name,
            store,
            HintQueue(self.twin, pool="default", consumer=name),
            kept,
            Choreographer(
                store,
                rng=random.Random(1),
                objects=_objects(objects),
                aws_limits=aws_limits,
            ),
            Performer(handlers, agents),
            now=self.loop.time,
            config=WorkerConfig(**config),
        )
        self._tasks[worker] = [asyncio.ensure_future(work) for work in (kept.run(), worker.run())]
        return worker

    async def leave(self, worker: Worker) -> None:
        """``worker`` drains to its end."""
        keeping, working = self._tasks.pop(worker)
        worker.drain()
        await working
        keeping.cancel()

    async def kill(self, worker: Worker) -> None:
        """``worker`` dies here: nothing is given back."""
        for task in reversed(self._tasks.pop(worker)):
            task.cancel()
            await asyncio.wait([task])

    async def submit(
        self, definition: dict[str, Any], value: Any = None, *, run: str = RUN
    ) -> WorkflowDocument:
        """Start a run of plain ASL or an envelope."""
        document = document_of(definition)
        await workflow.submit(self.store, document, value, workflow_id=run)
        return document

    async def end(self, run: str = RUN, *, within_s: float = _LONGEST_RUN_S) -> Result:
        """The result, once the run is over."""
        async with asyncio.timeout(within_s):
            return await workflow.wait(self.store, run, poll_s=0.05)

    async def play(
        self,
        definition: dict[str, Any],
        value: Any = None,
        handlers: Mapping[str, Handler] | None = None,
        **options: Any,
    ) -> Result:
        """Run ``definition`` with one worker to its end."""
        self.worker(handlers, **options)
        await self.submit(definition, value)
        return await self.end()

    async def until(self, condition: Callable[[], Awaitable[bool]], within_s: float = 60) -> None:
        """Wait for ``condition``."""
        async with asyncio.timeout(within_s):
            while not await condition():
                await asyncio.sleep(0.01)

    async def state(self, path: str, run: str = RUN) -> StateDocument:
        """The document of a state."""
        return (await self.store.states(run, [path]))[path]

    async def status(self, path: str, run: str = RUN) -> str:
        """The status of a state."""
        return (await self.state(path, run)).status

    async def until_status(self, path: str, status: str, run: str = RUN) -> None:
        """Wait until the state stands so."""

        async def reached() -> bool:
            found = await self.store.states(run, [path])
            return path in found and found[path].status == status

        await self.until(reached)

    async def events(self, run: str = RUN) -> list[dict[str, Any]]:
        """The history."""
        return [entry.event async for entry in history.read(self.store, run)]

    async def close(self) -> None:
        """End every worker."""
        for worker in list(self._tasks):
            await self.kill(worker)

    def _note_defect(self, _loop: object, context: dict[str, Any]) -> None:
        self.defects.append(context.get("exception") or RuntimeError(context["message"]))


def _objects(given: Objects | asl.MemoryObjects | None) -> Objects | None:
    return Objects(given, in_memory=True) if isinstance(given, asl.MemoryObjects) else given


class Calls:
    """A handler that writes down what it is called with; ``answer`` makes its result."""

    def __init__(self, answer: Callable[[Any], Any] = lambda given: given) -> None:
        self.given: list[Any] = []
        self._answer = answer

    async def __call__(self, arguments: Any) -> Any:
        self.given.append(arguments)
        answer = self._answer(arguments)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def count(self) -> int:
        return len(self.given)


def document_of(
    definition: dict[str, Any], *, catalog: SkillCatalog | None = None, file: str = "flow.json"
) -> WorkflowDocument:
    """The valid document of plain ASL or an envelope."""
    try:
        return workflow.load(json.dumps(definition), file=file, catalog=catalog)
    except InvalidWorkflow as invalid:
        raise AssertionError("\n".join(map(str, invalid.problems))) from invalid


def task(resource: str = "work", **fields: Any) -> dict[str, Any]:
    """A Task state."""
    return {"Type": "Task", "Resource": resource, **fields}


def passing(**fields: Any) -> dict[str, Any]:
    """A Pass state."""
    return {"Type": "Pass", **fields}


def mapping(processor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A Map state."""
    return {"Type": "Map", "ItemProcessor": processor, **fields}


def parallel(*branches: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A Parallel state."""
    return {"Type": "Parallel", "Branches": list(branches), **fields}


def retry(error: str = "States.ALL", **fields: Any) -> dict[str, Any]:
    """The ``Retry`` field with one retrier."""
    return {"Retry": [{"ErrorEquals": [error], **fields}]}


def catch(following: str, error: str = "States.ALL", **fields: Any) -> dict[str, Any]:
    """The ``Catch`` field with one catcher."""
    return {"Catch": [{"ErrorEquals": [error], "Next": following, **fields}]}


def flow(**states: dict[str, Any]) -> dict[str, Any]:
    """A machine of ``states``; one that says nothing of what follows leads to the next."""
    names = list(states)
    for name, following in zip(names, [*names[1:], None], strict=True):
        state = states[name]
        if state["Type"] in ("Choice", "Succeed", "Fail") or "Next" in state or "End" in state:
            continue
        state |= {"End": True} if following is None else {"Next": following}
    return {"StartAt": names[0], "States": states}
