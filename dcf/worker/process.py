"""A worker as a process: its connections, its keeper's thread, its agents, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from control_plane import (
    AgentStore,
    ControlPlaneError,
    HintQueue,
    Lease,
    RedisBackend,
    Refusal,
    RefusedForNow,
    RunStatus,
    Store,
    load_exports,
)
from dcf.agents import (
    AgentRuntime,
    LocalAgents,
    LocalRuntime,
    meanwhile,
    open_runtime,
    sleeptime,
)
from dcf.agents.models import Models
from dcf.agents.templates import templates
from dcf.knowledge import GraphFacts, GraphSetting, Knowledge, Privacy, drain, relay_for_ever
from dcf.memory import SYSTEM, ContextSetting, Memory, Source, project_of_runs, random_id
from dcf.retrieval import SHARES, AuditLog, BackendSetting, lifetimes_of, shares_of
from dcf.stopping import stop
from dcf.tools import Policy
from dcf.worker.agent_allowance import AgentAllowances
from dcf.worker.agent_observer import AgentObserver
from dcf.worker.agent_sweeper import AgentSweeper
from dcf.worker.agent_tasks import AgentTasks, Performers
from dcf.worker.agent_tools import AgentTools
from dcf.worker.generated_rules import approvers_of
from dcf.worker.keeper import LeaseKeeper
from dcf.worker.keeper_thread import KeeperThread
from dcf.worker.performer import Handler, Performer
from dcf.worker.run_bundles import RunBundles
from dcf.worker.run_contexts import RunContexts
from dcf.worker.run_extraction import extraction_of
from dcf.worker.run_memory import RunMemory
from dcf.worker.run_observer import RunObserver
from dcf.worker.run_retention import Deliver, retain_for_ever
from dcf.worker.run_snapshots import with_snapshots
from dcf.worker.shutdown import Drainable, until_told
from dcf.worker.solo import SoloProcesses
from dcf.worker.task_memory import HandlerNotes
from dcf.worker.worker import Worker, WorkerConfig
from dcf.worker.worker_agents import WorkerAgents, is_sealed
from dcf.worker.working_skills import FollowedSkills
from dcf.workflow import Choreographer, LocalObjects, Objects, Task, no_objects, refuse_earlier_runs

log = logging.getLogger(__name__)

LOADED_FIRST = (
    *("control_plane", "dcf.agents", "dcf.agents.models", "dcf.agents.loading", "dcf.asl"),
    *(
        "dcf.citation",
        "dcf.knowledge",
        "dcf.memory",
        "dcf.retrieval",
        "dcf.schema",
        "dcf.secret_form",
        "dcf.skills",
        "dcf.tools",
    ),
    *("dcf.worker", "dcf.workflow"),
)
"""The rooms that work uses: loaded whole before there are leases to keep."""

_QUEUE_CONNECTIONS = 2
_RELAY_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Post:
    """Where a worker process works, and with what.

    ``generated`` is the folder of generated skills, which the worker follows; without one it runs
    no agents.
    ``objects`` is the folder of the objects that ItemReader reads and ResultWriter writes.
    ``env`` fills the placeholders of the tool registry; ``stub_url`` says where the stub is at the
    moment, if that is not in ``env`` for good (``DCF_STUB_URL``). ``handlers`` serve Tasks by
    ``Resource``. With ``attached`` the worker also drains when its standard input, a
    pipe, ends: when whoever started it is gone. In ``memory`` its agents live, made from DCF's
    templates and those in the folder ``templates``; without one they remember nothing. ``home`` has
    the indexes of code, and what MEM_BACKEND=file keeps where MEM_PATH names no folder; without
    one no Task is told of its project. ``solo`` is
    the command of a process that works on one state that is given to it (``Assigned``); without it
    states that a worker died over are worked on here, one at a time. ``retention`` (ms) says of
    which status runs are removed so long after their end.
    """

    redis_url: str = field(repr=False)
    name: str
    pool: str = "default"
    config: WorkerConfig = field(default_factory=WorkerConfig)
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    generated: Path | None = None
    objects: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    stub_url: Callable[[], str] | None = None
    attached: bool = False
    memory: Source | None = None
    home: Path | None = None
    templates: Path | None = None
    solo: tuple[str, ...] = ()
    retention: Mapping[RunStatus, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Premises:
    """What a process works with, opened. ``sweeper`` removes agents that were made for runs;
    ``runtime`` are the agents that remember, in ``memory``, where there are any, and ``plain``
    those that do not. Without skills it runs no agents: ``plain`` and ``skills`` are None."""

    store: Store
    keeper: LeaseKeeper
    choreographer: Choreographer
    records: AgentStore
    skills: FollowedSkills | None
    plain: LocalRuntime | None
    runtime: AgentRuntime | None
    memory: Memory | None
    contexts: RunContexts | None

    def tasks(self, env: Mapping[str, str], performers: Performers | None) -> AgentTasks | None:
        """What performs Tasks with agents."""
        if self.skills is None or self.plain is None:
            return None
        return AgentTasks(
            self.skills, self.runtime or self.plain, self.store, env, performers, self.contexts
        )

    def notes_of(self) -> Callable[[Task], HandlerNotes] | None:
        """The memory of handlers' Tasks, where there is one."""
        if self.contexts is None:
            return None
        return partial(HandlerNotes, self.store, self.contexts.memory, self.contexts.project)


@dataclass(slots=True)
class Assigned:
    """``worker`` with one state to work on. ``is_over`` once that is done, given back or lost."""

    worker: Worker
    lease: Lease
    is_over: bool = False

    @property
    def name(self) -> str:
        return self.worker.name

    @property
    def busy(self) -> int:
        return self.worker.busy

    @property
    def held(self) -> list[str]:
        return self.worker.held

    def drain(self) -> None:
        self.worker.drain()

    async def run(self) -> None:
        self.is_over = await self.worker.run_one(self.lease)


Assignment = tuple[str, str, str]
"""Run, path and token of a lease."""


async def serve(
    post: Post,
    *,
    on_ready: Callable[[], None],
    assignment: Callable[[], Assignment | None] | None = None,
) -> bool:
    """Work until SIGTERM or SIGINT; True after an orderly end, False when a second signal or the
    work itself cut it short (leases that were held then end by themselves).

    With ``assignment`` it works on one state alone and ends: that is called in a thread when
    everything is there for it, and waits for the state, or for None: then there is nothing to do.
    Signals have no effect then: they are its Task's, or its worker got them too and ends it.
    ``on_ready`` is called when the worker can take work. Raises ControlPlaneError, SkillError,
    ToolsError, MemoryProblem, KnowledgeError and InvalidTemplate when it cannot start, EarlierRuns
    while an earlier version has runs to finish.
    """
    async with AsyncExitStack() as stack:
        there = await open_premises(post, stack, besides=assignment is None)
        store = there.store
        queue = HintQueue(open_queue(post, stack), pool=post.pool, consumer=post.name)
        workers = sweeper = observer = None
        if there.runtime is not None:
            workers = WorkerAgents(there.runtime, records=there.records, own=post.templates)
            sweeper = AgentSweeper(workers, partial(is_sealed, store))
            await stack.enter_async_context(meanwhile(sweeper.run()))
        if there.memory is not None and assignment is None:
            agents = AgentObserver(there.records, there.memory)
            project = project_of_runs(post.generated)
            observer = RunObserver(store, there.memory, project, besides=(agents.sweep,))
            await stack.enter_async_context(meanwhile(observer.run()))
            extraction = extraction_of(post.env, store, there.memory, project)
            if extraction is not None:
                await stack.enter_async_context(meanwhile(extraction.run()))
        if post.retention and assignment is None:
            deliver, forgetting = _deliver_on_demand(post, store), _run_memory(post, there.memory)
            retaining = retain_for_ever(store, post.retention, deliver, forgetting)
            await stack.enter_async_context(meanwhile(retaining))
        worker = Worker(
            post.name,
            store,
            queue,
            there.keeper,
            there.choreographer,
            with_snapshots(
                Performer(post.handlers, there.tasks(post.env, workers), notes_of=there.notes_of()),
                there.memory,
                project_of_runs(post.generated),
                post.env,
            ),
            now=time.monotonic,
            config=post.config,
            on_sealed=_both(sweeper, observer),
            solo=SoloProcesses(post.solo, store, there.keeper) if post.solo else None,
        )
        work: Drainable = worker
        if assignment is not None:
            assigned = await asyncio.to_thread(assignment)
            if assigned is None:
                return True
            lease = await store.held(*assigned)
            if isinstance(lease, Refusal):
                log.info("%s: %s is taken by others: %s", post.name, assigned[1], lease.code)
                return True
            work = Assigned(worker, lease)
        else:
            await refuse_earlier_runs(store)
            try:
                # Whoever hears that the worker is ready may count on it.
                await queue.open()
            except RefusedForNow as error:
                # The worker opens it itself as soon as Redis takes writes.
                worker.outage.seen(error)
        orderly = await until_told(
            work, on_ready, attached=post.attached, heeds_signals=assignment is None
        )
        if isinstance(work, Assigned):
            orderly = orderly and work.is_over
        if orderly and sweeper is not None:
            await sweeper.at_last(partial(_is_sealed_now, worker, store))
        if orderly and observer is not None:
            await observer.at_last()
        if assignment is None:
            await _leave(queue)
    return orderly


def _run_memory(post: Post, memory: Memory | None) -> RunMemory | None:
    by = SYSTEM.because("runs that ended long enough ago are removed")
    return None if memory is None else RunMemory(memory, project_of_runs(post.generated), by)


async def open_premises(post: Post, stack: AsyncExitStack, *, besides: bool = True) -> Premises:
    """Open what ``post`` names, until ``stack`` closes. ``besides`` its work the process carries
    what ends to the graph and lets agents rest; one that works for one state does not, since its
    death is that state's. Raises as ``serve``."""
    load_exports(*LOADED_FIRST)
    setting = GraphSetting.from_env(post.env)
    store = Store(_backend(post, stack), pool=post.pool, outbox=setting.mode != "off")
    if besides and setting.mode == "on":
        await _relay(post, stack, setting)
    skills = FollowedSkills(post.generated, post.env, post.stub_url) if post.generated else None
    plain, runtime, memory = await _runtimes(post, stack, store, skills, besides)
    keeper = stack.enter_context(
        KeeperThread(lambda: Store(RedisBackend.from_url(post.redis_url), pool=post.pool))
    ).keeper
    objects = Objects(LocalObjects(post.objects)) if post.objects else no_objects(in_memory=False)
    choreographer = Choreographer(
        store,
        rng=random.Random(),
        objects=objects,
        # Asked anew each time: the policy may be another by then.
        approver=lambda name: approvers_of(skills.policy if skills else Policy())(name),
    )
    contexts = None
    if memory is not None:
        project = project_of_runs(post.generated)
        bundles = None
        if post.home is not None:
            shares, unfit = shares_of(post.env)
            backend, unusable = BackendSetting.from_env(post.env)
            lifetimes, endless = lifetimes_of(post.env)
            for problem in (*unfit, *unusable, *endless):
                log.warning(
                    *("%s: %s; the default holds: %s", problem.file, problem.message, problem.hint)
                )
            bundles = RunBundles(
                memory,
                post.home,
                project,
                GraphFacts(post.env, project),
                SHARES if unfit else shares,
                BackendSetting() if unusable else backend,
                lifetimes,
                AuditLog.at_home(post.home, memory.ledger.clock, post.env),
            )
            stack.push_async_callback(bundles.close)
        contexts = RunContexts(memory, ContextSetting.from_env(post.env), project, bundles)
    records = AgentStore(store.backend)
    return Premises(store, keeper, choreographer, records, skills, plain, runtime, memory, contexts)


def open_queue(post: Post, stack: AsyncExitStack) -> RedisBackend:
    """A backend for reads that block."""
    return _backend(post, stack, connections=_QUEUE_CONNECTIONS)


async def _relay(post: Post, stack: AsyncExitStack, setting: GraphSetting) -> None:
    """Carry what ends to the graph, beside the work."""
    store = Store(_backend(post, stack, connections=_RELAY_CONNECTIONS), pool=post.pool)
    privacy = Privacy.from_env(post.env)
    relaying = asyncio.create_task(relay_for_ever(setting, store, privacy, name=post.name))
    relaying.add_done_callback(_tell_of_defect)

    async def end() -> None:
        await stop(relaying)

    stack.push_async_callback(end)


def _deliver_on_demand(post: Post, store: Store) -> Deliver | None:
    """What writes the outbox to the graph, started if need be, where nothing does so all the
    time."""
    setting = GraphSetting.from_env(post.env)
    if setting.mode != "demand":
        return None

    async def deliver() -> None:
        async with Knowledge.open(setting) as knowledge:
            await drain(knowledge, store, post.env)

    return deliver


def _tell_of_defect(relaying: asyncio.Task[None]) -> None:
    """The relay ends by being cancelled only; the worker does without it, and says so."""
    if not relaying.cancelled() and (error := relaying.exception()) is not None:
        log.error("nothing is written to the graph from here any more", exc_info=error)


def _backend(post: Post, stack: AsyncExitStack, *, connections: int = 32) -> RedisBackend:
    backend = RedisBackend.from_url(post.redis_url, connections=connections)
    stack.push_async_callback(backend.close)
    return backend


async def _is_sealed_now(worker: Worker, store: Store, workflow_id: str) -> bool:
    """``is_sealed``, where this worker may have stopped just before it sealed the run."""
    if await is_sealed(store, workflow_id):
        return True
    await worker.seal(workflow_id)
    return await is_sealed(store, workflow_id)


async def _runtimes(
    post: Post,
    stack: AsyncExitStack,
    store: Store,
    skills: FollowedSkills | None,
    besides: bool,
) -> tuple[LocalRuntime | None, AgentRuntime | None, Memory | None]:
    """Agents without and with a memory, as far as there are any, and that memory."""
    if skills is None:
        return None, None, None
    stack.push_async_callback(skills.close)
    models = Models(post.env)
    there = await skills.open()
    plain = LocalRuntime(models=models)
    runtime: AgentRuntime | None = None
    memory: Memory | None = None
    if post.memory is not None:
        if post.templates is not None:
            await asyncio.to_thread(templates, post.templates)
        opened = Memory.open(post.memory, clock=_now_ms, new_id=random_id)
        memory = await stack.enter_async_context(opened)
        runtime = await _remembering(post, memory, stack, store, skills, models, besides)
    if there:
        loading = asyncio.create_task(
            _prepare(runtime if isinstance(runtime, LocalAgents) else plain)
        )
        stack.callback(loading.cancel)
    return plain, runtime, memory


async def _prepare(runtime: LocalAgents | LocalRuntime) -> None:
    """Load what the first task needs, while nobody waits for it."""
    await runtime.prepare()
    if isinstance(runtime, LocalAgents):
        await asyncio.to_thread(templates)


async def _remembering(
    post: Post,
    memory: Memory,
    stack: AsyncExitStack,
    store: Store,
    skills: FollowedSkills,
    models: Models,
    besides: bool,
) -> AgentRuntime:
    """The agents in ``memory``, which get the messages that wait for them, and call
    their tools through the gate, each within its budget."""
    records = AgentStore(store.backend)
    runtime = await stack.enter_async_context(
        open_runtime(
            memory,
            post.env,
            models=models,
            allowance_of=AgentAllowances(records, lambda: skills.policy).of,
            use_of=AgentTools(records, skills).use_of,
        )
    )
    if isinstance(runtime, LocalAgents):
        await stack.enter_async_context(meanwhile(runtime.deliver_for_ever()))
        if besides:
            resting = sleeptime(memory, models, post.env).run_for_ever()
            await stack.enter_async_context(meanwhile(resting))
    return runtime


def _both(
    sweeper: AgentSweeper | None, observer: RunObserver | None
) -> Callable[[str], object] | None:
    """What is told of each run that is sealed here."""
    told = [one.end for one in (sweeper, observer) if one is not None]
    return (lambda workflow_id: [end(workflow_id) for end in told]) if told else None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def _leave(queue: HintQueue) -> None:
    """So that nobody counts on this worker any more."""
    try:
        await queue.leave()
    except ControlPlaneError as error:
        log.warning("could not leave the queue: %s", error)
