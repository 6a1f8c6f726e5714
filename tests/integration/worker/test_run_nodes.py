"""Branches of runs remember apart: agents of real workers, on a real Redis, in a real memory."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import Crew, crew_on
from memory_world import Numbered, Ticking
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from unit.worker.test_worker_agent_tasks import CATALOG, Tools
from unit.workflow.stage import document_of, flow, mapping, parallel, passing

from dcf.agents import LocalAgents
from dcf.memory import SYSTEM, Actor, ContextSetting, Memory, NewAgent, Source
from dcf.tools import ToolResult
from dcf.worker import SkilledAgents, Worker, WorkerAgents
from dcf.worker.run_contexts import RunContexts
from dcf.workflow import redrive, submit

FRUITS = ["plum", "fig", "pear"]
INSERT, SEARCH = "archival_memory_insert", "archival_memory_search"
Reply = ToolCallPart | None
Script = Callable[[str, list[Any]], Any]
"""Gives the next call of an agent: from the Task that it does, and what its calls returned."""


def done(data: Any = None) -> ToolCallPart:
    return ToolCallPart("report_result", {"data": data, "summary": "done"})


def failed(cause: str) -> ToolCallPart:
    return ToolCallPart("report_failure", {"error": "Broke", "cause": cause})


def agent_task(memory: Any = None, **fields: Any) -> dict[str, Any]:
    said = {} if memory is None else {"memory": memory}
    binding = {"agent_template_ref": {"name": "any"}, "skills": ["search"], **said}
    return {"Type": "Task", "AgentBinding": binding, **fields}


class World:
    """A crew whose agents follow a script, and what they were told."""

    def __init__(self, crew: Crew, memory: Memory, script: Script, project: str = "/lab") -> None:
        self.crew, self.memory, self.script = crew, memory, script
        self.project = project
        self.told: dict[str, list[str]] = {}
        self.tools = Tools()
        self.agents = LocalAgents(memory, model=FunctionModel(self._say, model_name="scripted"))

    def worker(self, name: str = "w1", **config: Any) -> Worker:
        return self.crew.worker(agents=self.performer(), name=name, **config)

    def performer(self) -> SkilledAgents:
        tools: Any = self.tools
        runtime: Any = None
        return SkilledAgents(
            CATALOG,
            tools,
            runtime,
            self.crew.store,
            workers=WorkerAgents(self.agents),
            contexts=RunContexts(self.memory, ContextSetting("index"), self.project),
        )

    async def start(self, run: str, **states: dict[str, Any]) -> None:
        document = document_of(flow(**states), catalog=CATALOG)
        await submit(self.crew.store, document, FRUITS, workflow_id=run, catalog=CATALOG)

    async def run(self, run: str, **states: dict[str, Any]) -> str:
        """How the run ended."""
        await self.start(run, **states)
        return (await self.crew.end(run)).status

    async def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        (told, task_input) = messages[0].parts[0].content  # type: ignore[misc,union-attr]
        name = told.partition("Task: ")[2].split()[0]
        work = f"{name} {json.loads(task_input.content)}"
        returns = [
            part.content
            for message in messages
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]
        if not returns:
            said = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
            self.told.setdefault(work, []).append(json.dumps([info.instructions, said]))
        answer = self.script(work, returns)
        return ModelResponse([await answer if asyncio.iscoroutine(answer) else answer])

    async def tree(self) -> dict[str, list[str]]:
        """The nodes by their ways from the root, with what was written into each."""
        root = await self.memory.nodes.named("/lab")
        found = {}
        for one in await self.memory.nodes.tree(root.id):
            way = [it.name for it in await self.memory.nodes.lineage(one.node.id)]
            own = await self.memory.nodes.entries(one.node.id, inherited=False)
            found[" > ".join(way[1:])] = [entry.text for entry in own]
        return found


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


def note_and_look(work: str, returns: list[Any]) -> ToolCallPart:
    """Notes a secret, searches for secrets, and reports what it found."""
    steps = [
        ToolCallPart(INSERT, {"content": f"the secret of {work}"}),
        ToolCallPart(SEARCH, {"query": "secret"}),
    ]
    if len(returns) < len(steps):
        return steps[len(returns)]
    return done([one["text"] for one in returns[-1]])


async def test_an_iteration_does_not_see_its_siblings_and_the_reducer_sees_all(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, note_and_look)
        world.worker()
        look = agent_task({"scope": "branch"})
        status = await world.run(
            "r1",
            # One after another, so that there is something to see.
            Fan=mapping(flow(Look=look), MaxConcurrency=1, ResultPath=None),
            Plain=agent_task(memory={}, ResultPath=None),
            Reduce=agent_task(memory={"gather": True}),
        )
        looks = [f"Fan[{number}]/Look" for number in range(len(FRUITS))]
        output = await crew.store.outputs("r1", [*looks, "Reduce"])

    secrets = [f"the secret of Look {fruit}" for fruit in FRUITS]
    assert status == "succeeded"
    assert [output[one]["data"] for one in looks] == [[one] for one in secrets]
    plain, reduce = (f"the secret of {name} {FRUITS}" for name in ("Plain", "Reduce"))
    assert sorted(output["Reduce"]["data"]) == sorted([*secrets, plain, reduce])
    (told,) = world.told[f"Plain {FRUITS}"]
    assert not any(one in told for one in secrets)
    (told,) = world.told[f"Reduce {FRUITS}"]
    assert all(one in told for one in secrets)
    reads = await memory.access.list(limit=1_000)
    of_reduce = [one for one in reads if one.by == SYSTEM.because("the context of Reduce")]
    fans = {f"r1/Fan[{number}]" for number in range(len(FRUITS))}
    assert {(one.operation, one.node) for one in of_reduce} == {("context", "r1/run")}
    assert {one.source for one in of_reduce} == {"r1/run", *fans}
    assert await world.tree() == {
        "": [],
        "run": [plain, reduce],
        **{f"run > Fan[{number}]": [one] for number, one in enumerate(secrets)},
    }


async def test_a_policy_chooses_the_node(redis_url: str, memory: Memory) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, note_and_look)
        world.worker()

        def inner(name: str, scope: str) -> dict[str, Any]:
            return flow(**{name: agent_task({"scope": scope})})

        shared, none = {"scope": "shared"}, {"scope": "none"}
        status = await world.run(
            "r1",
            Shared=parallel(inner("A", "branch"), memory=shared, ResultPath=None),
            Out=parallel(inner("B", "shared"), ResultPath=None),
            Off=parallel(
                flow(C=agent_task(ResultPath=None), D=agent_task(memory=none)), ResultPath=None
            ),
            Across=agent_task(memory=shared),
        )
    assert status == "failed", "who has no memory has no tools for it"
    tree = await world.tree()
    assert tree["run"] == [f"the secret of A {FRUITS}", f"the secret of B {FRUITS}"]
    assert set(tree) <= {"", "run", "run > Off[0]"}


async def test_a_branch_keeps_what_its_workflow_says_of_a_result_whichever_try_it_was(
    redis_url: str, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[str] = []

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        if work.startswith("After"):
            if not returns:
                return ToolCallPart(SEARCH, {"query": "Look"})
            return done([one["text"] for one in returns[-1]])
        tried.append(work)
        if work == "Look fig" and tried.count(work) == 1:
            return failed("no light")
        # No memory keeps a NUL: the rest of the note and the score stay.
        return done({"is": work.replace("pear", "p\0ar"), "points": [len(work)]})

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        keep = {"note": "$.is", "score": "$.points[0]"}
        retry = [{"ErrorEquals": ["Broke"], "MaxAttempts": 1, "IntervalSeconds": 1}]
        # A Map inside of the iteration stands beside the node of its second try.
        inner = mapping(flow(After=agent_task({})), ItemsPath="$.list")
        given = {"fruit.$": "$$.Map.Item.Value", "list": [1]}
        look = agent_task(keep, Retry=retry, InputPath="$.fruit", ResultPath=None)
        fan = mapping(flow(Look=look, Inner=inner), ItemSelector=given)
        assert await world.run("r1", Fan=fan) == "succeeded"
        afters = [f"Fan[{number}]/Inner[0]/After" for number in range(3)]
        output = await crew.store.outputs("r1", afters)
        root = await memory.nodes.named("/lab")
        nodes = [one.node for one in await memory.nodes.tree(root.id)]

    assert {one.name: one.score for one in nodes if one.score is not None} == {
        f"Fan[{number}]": len(f"Look {fruit}") for number, fruit in enumerate(FRUITS)
    }
    # Why the first try of one failed is its branch's too.
    kept = [[it for it in output[one]["data"] if "failed" not in it] for one in afters]
    assert kept == [["Look plum"], ["Look fig"], ["Look p\ufffdar"]]
    assert "Fan[2]/Look: the memory keeps neither NUL" in caplog.text


async def test_what_is_shared_by_runs_is_found_by_the_next_run(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, note_and_look)
        world.worker()
        for run in ("r1", "r2"):
            assert await world.run(run, Across=agent_task({"scope": "shared"})) == "succeeded"
        told = world.told[f"Across {FRUITS}"]
    assert ["the secret of Across" in one for one in told] == [False, True]
    assert set(await world.tree()) == {""}


async def test_a_retry_and_a_redrive_see_what_the_failed_tries_learned(
    redis_url: str, memory: Memory
) -> None:
    tries = []

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        if not returns:
            tries.append(work)
            return ToolCallPart(INSERT, {"content": f"lesson {len(tries)}"})
        return done() if len(tries) == 4 else failed(f"cause {len(tries)}")

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        retry = [{"ErrorEquals": ["Broke"], "MaxAttempts": 1, "IntervalSeconds": 1}]
        assert await world.run("r1", Look=agent_task({}, Retry=retry)) == "failed"
        await redrive(crew.store, "r1")
        assert (await crew.end("r1")).status == "succeeded"

    told = world.told[f"Look {FRUITS}"]
    for number, one in enumerate(told):
        seen = [f"lesson {it}" in one and f"cause {it}" in one for it in range(1, 5)]
        assert seen == [True] * number + [False] * (4 - number)
    tree = await world.tree()
    assert list(tree) == [
        "",
        "run",
        "run > Look#2",
        "run > Look#2 > Look@2#3",
        "run > Look#2 > Look@2#3 > Look@2#4",
    ]
    assert tree["run > Look#2"] == ["lesson 2", "Look failed with Broke: cause 2"]


async def test_the_successor_of_a_killed_worker_works_in_the_same_node(
    redis_url: str, memory: Memory
) -> None:
    wrote = asyncio.Event()

    async def script(work: str, returns: list[Any]) -> ToolCallPart:
        if not returns and not wrote.is_set():
            return ToolCallPart(INSERT, {"content": "before the death"})
        if not wrote.is_set():
            wrote.set()
            await asyncio.Event().wait()
        return note_and_look(work, returns)

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        first = world.worker("w1", ttl_ms=300)
        await world.start("r1", Fan=parallel(flow(Look=agent_task({}))))
        await wrote.wait()
        await crew.kill(first)
        world.worker("w2", ttl_ms=300)
        assert (await crew.end("r1")).status == "succeeded"

    assert "before the death" in world.told[f"Look {FRUITS}"][1]
    assert await world.tree() == {
        "": [],
        "run": [],
        "run > Fan[0]": ["before the death", f"the secret of Look {FRUITS}"],
    }


async def test_iterations_of_a_map_that_is_tried_again_see_what_theirs_learned(
    redis_url: str, memory: Memory
) -> None:
    first: set[str] = set()

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        if work in first:
            return note_and_look(work, returns)
        if not returns:
            return ToolCallPart(INSERT, {"content": f"a secret lesson of {work}"})
        first.add(work)
        return failed("at first") if len(first) == len(FRUITS) + 1 else done()

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        retry = [{"ErrorEquals": ["Broke"], "IntervalSeconds": 1}]
        fan = mapping(flow(Look=agent_task({})), MaxConcurrency=1, Retry=retry, ResultPath=None)
        # Its own name is no branch's: it does what the script says last.
        first.add(f"Reduce {FRUITS}")
        assert await world.run("r1", Fan=fan, Reduce=agent_task({"gather": True})) == "succeeded"
        looks = [f"Fan[{number}]/Look" for number in range(len(FRUITS))]
        output = await crew.store.outputs("r1", [*looks, "Reduce"])

    assert len(output["Reduce"]["data"]) == 2 * len(FRUITS) + 1
    tree = await world.tree()
    for path, fruit in zip(looks, FRUITS, strict=True):
        lesson, secret = f"a secret lesson of Look {fruit}", f"the secret of Look {fruit}"
        assert sorted(output[path]["data"]) == [lesson, secret]
        frame = path.partition("/")[0]
        assert tree[f"run > {frame} > {frame}~2"] == [secret]


async def test_what_stands_inside_of_a_branch_stands_below_its_node(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, note_and_look)
        world.worker()
        inner = mapping(flow(In=agent_task({})), MaxConcurrency=1, ResultPath=None)
        branch = flow(
            Before=agent_task({}, ResultPath=None),
            Items=passing(Result=["x"]),
            Inner=inner,
            After=agent_task({"gather": True}),
        )
        states = {"Both": parallel(branch, ResultPath=None), "Top": agent_task({"gather": True})}
        assert await world.run("r1", **states) == "succeeded"
        outputs = await crew.store.outputs("r1", ["Both[0]/After", "Top"])
        after, top = (sorted(outputs[one]["data"]) for one in ("Both[0]/After", "Top"))

    before, in_x, own = f"Before {FRUITS}", "In x", "After ['x']"
    assert after == sorted(f"the secret of {one}" for one in (before, in_x, own))
    # What stands inside of a branch is that branch's to pass on.
    assert top == sorted(f"the secret of {one}" for one in (before, own, f"Top {FRUITS}"))
    tree = await world.tree()
    assert list(tree) == ["", "run", "run > Both[0]", "run > Both[0] > Both[0]/Inner[0]"]
    assert tree["run > Both[0] > Both[0]/Inner[0]"] == ["the secret of In x"]


async def test_a_redriven_iteration_goes_on_below_its_own_node(
    redis_url: str, memory: Memory
) -> None:
    broken: list[str] = []

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        if work == "Look fig" and not broken:
            broken.append(work)
            return failed("not ripe")
        return note_and_look(work, returns)

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        fan = mapping(flow(Look=agent_task({})), MaxConcurrency=1, ResultPath=None)
        reduce = agent_task({"gather": True})
        assert await world.run("r1", Fan=fan, Reduce=reduce) == "failed"
        await redrive(crew.store, "r1")
        assert (await crew.end("r1")).status == "succeeded"
        found = (await crew.store.outputs("r1", ["Reduce"]))["Reduce"]["data"]

    secrets = [f"the secret of {one}" for one in (*world.told,)]
    assert sorted(found) == sorted(secrets)
    assert "Look failed with Broke: not ripe" in world.told["Look fig"][1]
    assert await world.tree() == {
        "": [],
        "run": [f"the secret of Reduce {FRUITS}"],
        "run > Fan[0]": ["the secret of Look plum"],
        "run > Fan[1]": ["Look failed with Broke: not ripe"],
        "run > Fan[1] > Fan[1]/Look@2#2": ["the secret of Look fig"],
        "run > Fan[2]": ["the secret of Look pear"],
    }


async def test_tools_are_told_the_node_that_the_workflow_chose(
    redis_url: str, memory: Memory
) -> None:
    def script(work: str, returns: list[Any]) -> ToolCallPart:
        return done() if returns else ToolCallPart("find", {"query": "x"})

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        both = parallel(flow(A=agent_task({})), flow(B=agent_task()))
        assert await world.run("r1", Both=both) == "succeeded"
    told = {one["idempotency_key"].split("/")[2]: one.get("node") for one in world.tools.calls}
    assert told == {"A": "r1/Both[0]", "B": None}


async def test_an_existing_agent_writes_into_the_node_of_its_task(
    redis_url: str, memory: Memory
) -> None:
    def script(work: str, returns: list[Any]) -> ToolCallPart:
        # The tool changes its mind, which is an observation of the agent's.
        asks = 2 if work == "Look fig" else 0
        if len(returns) < asks:
            return ToolCallPart("find", {"query": "x"})
        return note_and_look(work, returns[asks:])

    class Changing(Tools):
        async def call(self, *given: Any, **more: Any) -> ToolResult:
            await super().call(*given, **more)
            return ToolResult(len(self.calls), str(len(self.calls)))

    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.tools = Changing()
        ada = await world.agents.create(NewAgent("ada"), by=Actor("user", "test"))
        world.worker()
        binding = {"agent_ref": {"name": "ada"}, "skills": ["search"], "memory": {}}
        look = {"Type": "Task", "AgentBinding": binding}
        fan = mapping(flow(Look=look), MaxConcurrency=1)
        assert await world.run("r1", Fan=fan) == "succeeded"
        assert await world.agents.passages(ada.id) == ()
        events = await memory.events.list(limit=100)
        made = Counter(one.by.name for one in events if one.entity == "entry")
        assert made == {ada.id: len(FRUITS), "dcf": 1}
        searches = [one for one in await memory.access.list() if one.operation == "search"]
        assert {one.by for one in searches} == {Actor("agent", ada.id, "task Look")}
        result = (await crew.store.outputs("r1", ["Fan"]))["Fan"]["data"]
    assert result == [[f"the secret of Look {fruit}"] for fruit in FRUITS]
    tree = await world.tree()
    assert [len(tree[f"run > Fan[{number}]"]) for number in range(3)] == [1, 2, 1]
    observed = "Look: find answered the same call differently"
    assert tree["run > Fan[1]"][1].splitlines()[0] == observed
    assert await memory.observations.list() == ()


async def test_a_memory_that_takes_no_node_keeps_no_task_from_its_work(
    redis_url: str, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[Any] = []

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        answers.extend(returns)
        return done() if returns else ToolCallPart(INSERT, {"content": "lost"})

    async with crew_on(redis_url) as crew:
        # A node has to be of a project.
        world = World(crew, memory, script, project="")
        world.worker()
        assert await world.run("r1", Look=agent_task({})) == "succeeded"
    assert "Look is done without its node of the memory" in caplog.text
    assert answers[0]["error"]["code"] == "memory_invalid_entry"


async def test_a_task_without_anything_to_remember_makes_no_node(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, lambda work, returns: done())
        world.worker()
        assert await world.run("r1", Fan=mapping(flow(Look=agent_task()))) == "succeeded"
    assert await memory.nodes.nearest("/lab", "r1", []) is None
