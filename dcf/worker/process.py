"""A worker as a process: its connections, its keeper's thread, its agents, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from control_plane import ControlPlaneError, HintQueue, RedisBackend, Store
from dcf.agents import LocalAgents, LocalRuntime
from dcf.agents.models import Models
from dcf.memory import Memory, Source, random_id
from dcf.tools import Policy
from dcf.worker.agent_tasks import AgentTasks
from dcf.worker.generated_rules import approvers_of
from dcf.worker.keeper_thread import KeeperThread
from dcf.worker.performer import AgentPerformer, Handler, Performer
from dcf.worker.worker import Worker, WorkerConfig
from dcf.worker.worker_agents import WorkerAgents, is_sealed
from dcf.worker.working_skills import FollowedSkills
from dcf.workflow import Choreographer, LocalObjects, Objects, no_objects

log = logging.getLogger(__name__)

_QUEUE_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class Post:
    """Where a worker process works, and with what.

    ``generated`` is the folder of generated skills, which the worker follows; without one it runs
    no agents.
    ``objects`` is the folder of the objects that ItemReader reads and ResultWriter writes.
    ``env`` fills the placeholders of the tool registry (``DCF_STUB_URL``). ``handlers`` serve
    Tasks by ``Resource``. With ``attached`` the worker also drains when its standard input, a
    pipe, ends: when whoever started it is gone. In ``memory`` its agents live; without one they
    remember nothing.
    """

    redis_url: str = field(repr=False)
    name: str
    pool: str = "default"
    config: WorkerConfig = field(default_factory=WorkerConfig)
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    generated: Path | None = None
    objects: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    attached: bool = False
    memory: Source | None = None


async def serve(post: Post, *, on_ready: Callable[[], None]) -> bool:
    """Work until SIGTERM or SIGINT; True after an orderly end, False when a second signal cut it
    short (leases that were held then end by themselves).

    ``on_ready`` is called when the worker can take work. Raises ControlPlaneError, SkillError and
    ToolsError when it cannot start.
    """
    async with AsyncExitStack() as stack:
        store = Store(_backend(post, stack), pool=post.pool)
        hints = _backend(post, stack, connections=_QUEUE_CONNECTIONS)
        queue = HintQueue(hints, pool=post.pool, consumer=post.name)
        await queue.open()
        skills = FollowedSkills(post.generated, post.env) if post.generated else None
        agents = await _agents(post, stack, store, skills)
        keeper = stack.enter_context(
            KeeperThread(lambda: Store(RedisBackend.from_url(post.redis_url), pool=post.pool))
        ).keeper
        worker = Worker(
            post.name,
            store,
            queue,
            keeper,
            Choreographer(
                store,
                rng=random.Random(),
                objects=(
                    Objects(LocalObjects(post.objects))
                    if post.objects
                    else no_objects(in_memory=False)
                ),
                # Asked anew each time: the policy may be another by then.
                approver=lambda name: approvers_of(skills.policy if skills else Policy())(name),
            ),
            Performer(post.handlers, agents),
            now=time.monotonic,
            config=post.config,
        )
        orderly = await _until_told(worker, on_ready, attached=post.attached)
        await _leave(queue)
    return orderly


def _backend(post: Post, stack: AsyncExitStack, *, connections: int = 32) -> RedisBackend:
    backend = RedisBackend.from_url(post.redis_url, connections=connections)
    stack.push_async_callback(backend.close)
    return backend


async def _agents(
    post: Post, stack: AsyncExitStack, store: Store, skills: FollowedSkills | None
) -> AgentPerformer | None:
    if skills is None:
        return None
    stack.push_async_callback(skills.close)
    models = Models(post.env)
    runtime: LocalAgents | LocalRuntime = LocalRuntime(models=models)
    workers = None
    if post.memory is not None:
        runtime = await _remembering(post.memory, stack, models, post.env)
        workers = WorkerAgents(runtime)
        sweeping = asyncio.create_task(workers.sweep_for_ever(lambda run: is_sealed(store, run)))
        stack.callback(sweeping.cancel)
    if await skills.open():
        loading = asyncio.create_task(runtime.prepare())
        stack.callback(loading.cancel)
    return AgentTasks(skills, runtime, store, post.env, workers)


async def _remembering(
    source: Source, stack: AsyncExitStack, models: Models, env: Mapping[str, str]
) -> LocalAgents:
    """The agents in the memory ``source``, which get the messages that wait for them."""
    opened = Memory.open(source, clock=lambda: time.time_ns() // 1_000_000, new_id=random_id)
    memory = await stack.enter_async_context(opened)
    agents = LocalAgents(memory, models=models, environment=env)
    stack.push_async_callback(agents.aclose)
    delivering = asyncio.create_task(agents.deliver_for_ever())
    stack.callback(delivering.cancel)
    return agents


async def _until_told(worker: Worker, on_ready: Callable[[], None], *, attached: bool) -> bool:
    """Run ``worker``: the first signal drains it, the second stops it at once."""
    loop = asyncio.get_running_loop()
    work = asyncio.create_task(worker.run())
    told = False

    def stop(reason: str) -> None:
        nonlocal told
        if told:
            log.warning("%s: %s again, stopping at once", worker.name, reason)
            work.cancel()
            return
        told = True
        log.info("%s: %s, finishing %d states in work", worker.name, reason, worker.busy)
        worker.drain()

    def starter_gone() -> None:
        loop.remove_reader(sys.stdin)
        if not told:
            stop("its starter is gone")

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number.name)
    if attached:
        # Nothing is ever written to the pipe: readable means that its other end was closed.
        loop.add_reader(sys.stdin, starter_gone)
    on_ready()
    try:
        await work
    except asyncio.CancelledError:
        return False
    return True


async def _leave(queue: HintQueue) -> None:
    """So that nobody counts on this worker any more."""
    try:
        await queue.leave()
    except ControlPlaneError as error:
        log.warning("could not leave the queue: %s", error)
