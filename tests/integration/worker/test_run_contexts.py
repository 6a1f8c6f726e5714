"""What a run showed stands in the requests of the next run of the same workflow and no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import Crew, crew_on
from memory_world import Numbered, Ticking
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from unit.worker.test_worker_agent_tasks import CATALOG, Tools, bound
from unit.workflow.stage import document_of, flow, passing, retry

from control_plane import history
from dcf.agents import LocalAgents
from dcf.memory import ContextMode, ContextSetting, Memory, Source
from dcf.skills import SkillCatalog
from dcf.worker import SkilledAgents, WorkerAgents
from dcf.worker.run_bundles import RunBundles
from dcf.worker.run_contexts import RunContexts
from dcf.worker.run_observer import RunObserver
from dcf.workflow import finalize, submit

TITLE = "Which→Many"
CUSTOMER = "CUST-4711 of Kassel"


def definition(name: str, binding: Mapping[str, Any]) -> dict[str, Any]:
    again = retry(IntervalSeconds=1, MaxAttempts=1)
    ask = bound("search", ResultPath="$.said", Comment="Look it up.", **again)
    ask["AgentBinding"] |= binding
    machine = flow(
        Ask=ask,
        Which={
            "Type": "Choice",
            "Choices": [{"Variable": "$.n", "NumericGreaterThan": 1, "Next": "Many"}],
            "Default": "One",
        },
        Many=passing(End=True),
        One=passing(End=True),
    )
    return {
        "workflow_schema_version": "2.3.0",
        "workflow_id": name,
        "workflow_name": name,
        "version": "1.0.0",
        "asl": machine,
    }


class World:
    """A crew whose agents say the same, whatever they are asked, and what they were asked."""

    def __init__(
        self,
        crew: Crew,
        memory: Memory,
        mode: ContextMode,
        project: str,
        *,
        catalog: SkillCatalog = CATALOG,
        bundles: RunBundles | None = None,
    ) -> None:
        self.catalog = catalog
        self.crew, self.memory = crew, memory
        self.asked: list[str] = []
        self.summary = CUSTOMER
        self.failures = 0
        self.agents = LocalAgents(memory, model=FunctionModel(self._say, model_name="scripted"))
        tools: Any = Tools()
        runtime: Any = None
        contexts = RunContexts(memory, ContextSetting(mode), project, bundles)
        performer = SkilledAgents(
            catalog,
            tools,
            runtime,
            crew.store,
            workers=WorkerAgents(self.agents),
            contexts=contexts,
        )
        crew.worker(agents=performer, name=f"w-{mode}{project}")
        self.project = project

    async def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
        self.asked.append(json.dumps([info.instructions, said], ensure_ascii=False))
        if self.failures:
            self.failures -= 1
            return ModelResponse([ToolCallPart("report_failure", {"error": "Broke", "cause": "-"})])
        report = {"data": {"of": CUSTOMER}, "summary": self.summary}
        return ModelResponse([ToolCallPart("report_result", report)])

    async def run(self, run: str, workflow: str = "orders", **binding: Any) -> str:
        """What the agent of a run was asked, once the run is over and was looked at."""
        document = document_of(definition(workflow, binding), catalog=self.catalog)
        value = {"n": 2, "customer": run}
        await submit(self.crew.store, document, value, workflow_id=run, catalog=self.catalog)
        assert (await self.crew.end(run)).status == "succeeded"
        await finalize(self.crew.store, run, by="test")
        await RunObserver(self.crew.store, self.memory, self.project).sweep()
        return self.asked[-1]

    async def given(self, run: str) -> list[list[str]]:
        """What the history says that agents of a run were given."""
        return [one["observations"] for one in await self.events(run, "ContextGiven")]

    async def events(self, run: str, kind: str) -> list[dict[str, Any]]:
        """Those of one type in the history of a run."""
        events = [entry.event async for entry in history.read(self.crew.store, run)]
        return [one for one in events if one["type"] == kind]


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def test_the_next_run_of_the_same_workflow_is_told_what_this_one_showed(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, "index", "/shop")
        first = await world.run("order-1")
        assert TITLE not in first and await world.given("order-1") == []
        second = await world.run("order-2")
        (row,) = await memory.observations.list()
        assert TITLE in second and row.times == 2
        assert await world.given("order-2") == [["dcf://observation/1"]]
        assert "order-1" not in second and CUSTOMER not in second
        (agent,) = await world.agents.list(tags=["wf:order-2"])
        kept = await world.agents.messages(agent.id)
        assert all(TITLE not in message.content for message in kept), "nothing is kept twice"
        assert TITLE not in await world.run("return-1", "returns")
        assert await world.given("return-1") == []


async def test_what_an_answer_cites_counts_only_where_it_was_told(
    redis_url: str, memory: Memory
) -> None:
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, "index", "/shop")
        await world.run("order-1")
        (row,) = await memory.observations.list()
        world.summary = f"As {row.citation} says."
        await world.run("return-1", "returns")
        assert (await memory.observations.get(row.id)).used == 0
        await world.run("order-2")
        assert (await memory.observations.get(row.id)).used == 1


@pytest.mark.parametrize(("mode", "project"), [("off", "/shop"), ("full", "/elsewhere")])
async def test_nothing_is_told_where_that_is_off_and_to_no_other_project(
    redis_url: str, memory: Memory, mode: ContextMode, project: str
) -> None:
    async with crew_on(redis_url) as crew:
        await World(crew, memory, "index", "/shop").run("order-1")
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, mode, project)
        assert TITLE not in await world.run("order-2")
        assert await world.given("order-2") == []
