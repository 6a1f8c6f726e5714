"""Hops whose Task is done by an agent that makes one real MCP call over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.machines import chain
from benchmarks.runs import document, finish, submit
from benchmarks.workers import worker_processes
from control_plane import RedisBackend, Store
from dcf.skills import generate_all

_TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  bench:
    description: A server that answers at once
    tools:
      echo:
        version: 1.0.0
        description: Answers with what it got.
        params: {type: object, properties: {n: {type: integer}}, required: [n]}
        result: {type: object, properties: {n: {type: integer}}, required: [n]}
        defaults: {response: {n: "{{ args.n }}"}, latencyMs: 0}
"""
_SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata: {manifestId: skill.bench.echo@1.0.0, name: bench.echo, version: 1.0.0}
spec:
  directives: Call echo once.
  tools: [{ref: "bench:echo"}]
"""
_REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
servers:
  bench: {transport: streamable_http, endpoint: "${DCF_STUB_URL}", path: /mcp/bench}
"""


async def tool_hops(url: str, scratch: Path, *, length: int) -> list[Figure]:
    """One after another, and 8 chains at a time, with one worker process; by agents that remember
    nothing, and by agents of the runtime, one for each Task."""
    generated = author(scratch)
    binding = {"skills": ["skill.bench.echo@1.0.0"], "tool_name": "echo"}
    definition = document(chain(length, Type="Task", AgentBinding=binding))
    store = Store(RedisBackend.from_url(url))
    figures = []
    async with stub_server(generated / "stub" / "stub_config.json") as stub:
        for memory in (None, scratch / "hops.db"):
            what = "agent Task with one MCP call" + (", remembered" if memory else "")
            async with worker_processes(url, 1, generated=generated, stub=stub, memory=memory):
                # The first agent task of a process loads the agent library.
                await finish(store, await submit(store, definition, 1, {"n": 1}))
                for chains in (1, 8):
                    runs = await submit(store, definition, chains, {"n": 1})
                    seconds = await finish(store, runs)
                    how = "one after another" if chains == 1 else f"{chains} in flight"
                    figures.append(Figure(f"{what}, {how}", chains * length / seconds, "/s"))
    await store.backend.close()
    return figures


def author(scratch: Path) -> Path:
    """Generate the skill that is worked with; the generated folder."""
    sources = scratch / "skills_src"
    for name, text in (
        (
            "tools/_index.yaml",
            "apiVersion: tools-index/v1\nkind: ToolsIndex\nfiles: [bench.tools.yaml]\n",
        ),
        ("tools/bench.tools.yaml", _TOOLS),
        ("skills/echo.skill.yaml", _SKILL),
        ("registry.yaml", _REGISTRY),
    ):
        file = sources / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    result = generate_all(sources, scratch / "generated")
    if not result.ok:
        raise RuntimeError("\n".join(str(problem) for problem in result.problems))
    return scratch / "generated"


@asynccontextmanager
async def stub_server(config: Path) -> AsyncIterator[str]:
    """A stub server as a process of its own; its URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dcf.tools.stub", "--config", str(config), "--port", "0",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        if process.stdout is None:
            raise RuntimeError("the stub has no output")
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.terminate()
        await process.wait()
