"""A worker with one tool whose agents ask a model over HTTP: Redis, stub and gate are real."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from integration.agents.wire_model import Answer, Body, Script, WireModel, call, serving_model
from integration.tools.conftest import TOOLS, serving_app
from integration.worker.crew import Crew, crew_on
from unit.workflow.stage import document_of

from control_plane import history
from dcf.agents import LocalRuntime, UsageLimits
from dcf.agents.models import Models
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.tools.stub import create_stub_app
from dcf.worker import SkilledAgents
from dcf.workflow import Result, submit

SEARCH = SkillTool(
    "web", "search", "search", "Search.", True, TOOLS["web"]["search"]["paramsSchema"]
)
SKILL = Manifest(
    manifest_id="skill.looking@1.0.0",
    name="looking",
    version="1.0.0",
    description="",
    directives="Look it up.",
    tags=(),
    permissions=Permissions(),
    tools=(SEARCH,),
    data_sources=(),
    dependencies=(),
    package_id=None,
    digest="sha256:" + "1" * 64,
    raw={},
)
BOUND = {"agent_template_ref": {"name": "any"}, "skills": ["looking@1.0.0"]}


def look(**fields: Any) -> dict[str, Any]:
    """A Task for an agent with the search skill."""
    return {"Type": "Task", "AgentBinding": {**BOUND, **fields.pop("binding", {})}, **fields}


def found_or_report(body: Body) -> Answer:
    """Search once, then report what was found."""
    said = [message for message in body["messages"] if message["role"] == "tool"]
    if not said:
        return call("search", {"query": "x"}, usage=(700, 30))
    data = json.loads(said[-1]["content"])
    report = {"data": {"items": data["items"]}, "summary": "Found."}
    return call("report_result", report, usage=(900, 40))


class Place:
    """Workers with a search tool, whose agents ask the model server."""

    def __init__(self, crew: Crew, toolbox: Toolbox, environment: Mapping[str, str]) -> None:
        self.crew = crew
        self._environment = dict(environment)
        self._toolbox = toolbox
        self._catalog = SkillCatalog([SKILL])

    def worker(self, name: str = "w1", limits: UsageLimits | None = None, **config: Any) -> Any:
        env = self._environment
        runtime = LocalRuntime(models=Models(env, random=lambda: 0.0), limits=limits)
        agents = SkilledAgents(
            self._catalog, self._toolbox, runtime, self.crew.store, environment=env
        )
        return self.crew.worker(agents=agents, name=name, **config)

    async def run(
        self,
        definition: dict[str, Any],
        value: Any = None,
        *,
        longest_s: float = 20.0,
        **envelope: Any,
    ) -> Result:
        await self.submit(definition, value, **envelope)
        return await self.crew.end("r", longest_s)

    async def submit(self, definition: dict[str, Any], value: Any = None, **envelope: Any) -> None:
        if envelope:
            names = {"workflow_id": "w", "workflow_name": "w", "version": "2.0.0"}
            definition = {**names, "asl": definition, **envelope}
        document = document_of(definition, catalog=self._catalog)
        given = {"query": "x"} if value is None else value
        await submit(self.crew.store, document, given, workflow_id="r", catalog=self._catalog)

    async def events(self, kind: str) -> list[dict[str, Any]]:
        told = [entry.event async for entry in history.read(self.crew.store, "r")]
        return [event for event in told if event["type"] == kind]

    async def state(self, path: str = "A") -> Any:
        return (await self.crew.store.states("r", [path]))[path]

    async def used(self, name: str) -> int:
        chain = self.crew.store.keys("r").chain
        return int(await self.crew.store.backend.command("HGET", chain, name) or 0)


@asynccontextmanager
async def place(
    redis_url: str, folder: Path, environment: Mapping[str, str]
) -> AsyncIterator[Place]:
    """A place whose models are those of ``environment``, until the block ends."""
    config = folder / "stub_config.json"
    config.write_text(json.dumps({"seed": 1, "servers": {"web": {"tools": TOOLS["web"]}}}))
    async with AsyncExitStack() as stack:
        stub = await stack.enter_async_context(serving_app(create_stub_app(config)))
        toolbox = await stack.enter_async_context(
            Toolbox(Registry([ServerConfig("web", url=f"{stub}/mcp/web")]))
        )
        crew = await stack.enter_async_context(crew_on(redis_url))
        yield Place(crew, toolbox, environment)


class WiredPlace:
    """A place and the scripted server that its agents ask."""

    def __init__(self, here: Place, server: WireModel) -> None:
        self.here = here
        self.server = server

    def __getattr__(self, name: str) -> Any:
        return getattr(self.here, name)


@asynccontextmanager
async def wired_place(
    redis_url: str, folder: Path, script: Script | list[Answer]
) -> AsyncIterator[WiredPlace]:
    """A place whose model answers as ``script`` says, in the wire format of OpenAI."""
    async with serving_model(script) as server:
        env = {"DCF_MODEL": "openai:gpt-5-mini", "OPENAI_BASE_URL": server.url}
        env |= {"OPENAI_API_KEY": "sk-test-0123456789", "DCF_MODEL_RETRIES": "1"}
        async with place(redis_url, folder, env) as here:
            yield WiredPlace(here, server)
