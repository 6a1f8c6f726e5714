"""Tool calls without workers: what the gate costs, and how many calls a second the client and the
stub make together."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.figure import Figure, median
from benchmarks.runs import now
from benchmarks.tool_hops import author, stub_server
from control_plane import new_token
from dcf.agents.loading import grants_of
from dcf.skills import SkillCatalog
from dcf.tools import Call, Gate, Registry, Toolbox, ToolDescription
from dcf.worker import read_lock

_SERVER, _TOOL = "bench", "echo"
_ARGUMENTS = {"n": 1}
_IN_FLIGHT = 8
_DECISIONS = 1_000


async def tool_calls(scratch: Path, *, calls: int, repeats: int = 3) -> list[Figure]:
    """Decisions alone, in this process; then calls over HTTP, the stub being another one."""
    generated = author(scratch)
    figures = [_decisions(generated, repeats)]
    async with stub_server(generated / "stub" / "stub_config.json") as url:
        registry = Registry.load(generated / "registry.json", {"DCF_STUB_URL": url})
        async with Toolbox(registry) as toolbox:
            await _call(toolbox, _IN_FLIGHT, 1)
            for in_flight in (1, _IN_FLIGHT):
                each = calls // in_flight
                rates = [await _call(toolbox, in_flight, each) for _ in range(repeats)]
                name = f"tool call to the stub, {in_flight} in flight"
                figures.append(Figure(name, median(rates), "/s"))
    return figures


def _decisions(generated: Path, repeats: int) -> Figure:
    """What the gate takes for a pinned tool whose live schema is compared: microseconds a call."""
    catalog = SkillCatalog.load(generated)
    pins = read_lock(generated)
    pin = pins[f"{_SERVER}:{_TOOL}"]
    live = ToolDescription(_TOOL, "", dict(pin.input_schema), pin.output_schema)
    registry = Registry.load(generated / "registry.json", {"DCF_STUB_URL": "http://127.0.0.1:1"})
    gate = Gate(grants_of(catalog), servers=registry, pins=pins)

    def decide() -> float:
        began = now()
        for _ in range(_DECISIONS):
            if not gate.decide(Call(_SERVER, _TOOL, _ARGUMENTS, live)).allowed:
                raise RuntimeError("the gate refused the benchmark's call")
        return (now() - began) / _DECISIONS

    seconds = median([decide() for _ in range(repeats)])
    return Figure("the gate's decision on a call, schema compared", seconds * 1e6, "us")


async def _call(toolbox: Toolbox, in_flight: int, each: int) -> float:
    """Calls a second."""

    async def work() -> None:
        for _ in range(each):
            answer = await toolbox.call(
                _SERVER,
                _TOOL,
                _ARGUMENTS,
                idempotency_key=new_token(),
                fence=1,
                timeout_s=30,
            )
            if answer.is_error:
                raise RuntimeError(answer.text)

    began = now()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return in_flight * each / (now() - began)
