"""A run of which somebody damaged a key ends, waits or is left; other runs and the worker go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from unit.workflow.stage import RUN, Stage, flow, staged, task

from control_plane import RunKeys

KEYS = RunKeys(RUN)
DONE, NOW = KEYS.state("A"), KEYS.state("B")


def text(key: str) -> list[tuple[Any, ...]]:
    return [("DEL", key), ("SET", key, "x")]


def says(key: str, place: str, value: str) -> list[tuple[Any, ...]]:
    return [("JSON.SET", key, place, value)]


def entry(*fields: str) -> list[tuple[Any, ...]]:
    return [("XADD", KEYS.history, "*", *fields)]


DAMAGES = {
    "an event without its time": entry("event", "{}", "digest", "x"),
    "an event without its text": entry("at", "7", "digest", "x"),
    "an event that is no JSON": entry("at", "7", "event", "{", "digest", "x"),
    "an event of no time": entry("at", "x", "event", "{}", "digest", "x"),
    "no history": [("DEL", KEYS.history)],
    "no paths": [("DEL", KEYS.paths)],
    "no chain": [("DEL", KEYS.chain)],
    "a count that is none": [("HSET", KEYS.chain, "events", "x")],
    **{
        f"a text for {key.rpartition(':')[2]}": text(key)
        for key in (KEYS.meta, KEYS.paths, KEYS.history, KEYS.chain, KEYS.due, KEYS.blobs)
    },
    "no document": [("DEL", KEYS.meta)],
    "a document without control": says(KEYS.meta, "$.ctl", "[]"),
    "a document without status": [("JSON.DEL", KEYS.meta, "$.status")],
    "a document without definition": [("JSON.DEL", KEYS.meta, "$.definition")],
    "a list for a document": says(KEYS.meta, "$", "[]"),
    **{
        f"{what} of the {which} state": [*commands]
        for which, key in (("finished", DONE), ("working", NOW))
        for what, commands in (
            ("no document", [("DEL", key)]),
            ("a text", text(key)),
            ("a list", says(key, "$", "[]")),
            ("no control", says(key, "$.ctl", "7")),
            ("an empty control", says(key, "$.ctl", "{}")),
            ("no kind", [("JSON.DEL", key, "$.kind")]),
            ("an unknown status", says(key, "$.status", '"asleep"')),
            ("no type", [("JSON.DEL", key, "$.type")]),
            ("times that are none", says(key, "$.times", '"x"')),
            ("costs that are none", says(key, "$.metrics", '{"cost_usd": "x"}')),
            ("metrics that are none", says(key, "$.metrics", "[7]")),
            ("an error that is none", says(key, "$.error", "[7]")),
        )
    },
    "a text for an output": text(KEYS.output("A")),
    "an output that says nothing": [("JSON.SET", KEYS.output("A"), "$", "{}")],
}


@staged
@pytest.mark.parametrize("name", DAMAGES)
async def test_other_runs_go_on_beside_a_damaged_one(name: str, stage: Stage) -> None:
    async def damage(given: Any) -> Any:
        if given == "mine":
            for command in DAMAGES[name]:
                await stage.twin.command(*command)
        return given

    async def work(given: Any) -> Any:
        return given

    worker = stage.worker({"work": work, "damage": damage})
    machine = flow(A=task(), B=task("damage"), C=task())
    await stage.submit(machine, "mine")
    await stage.submit(machine, "other", run="beside")
    assert (await stage.end("beside")).status == "succeeded"
    # Leases end, sweeps look again, and what is over is sealed in this time.
    await asyncio.sleep(120)
    await stage.submit(machine, "other", run="later")
    assert (await stage.end("later")).status == "succeeded"
    await stage.until(lambda: sealed(stage, "beside", "later"))
    await stage.leave(worker)


async def sealed(stage: Stage, *runs: str) -> bool:
    return all([(await stage.store.run(run)).finalized_at is not None for run in runs])
