"""What somebody did to a key of a run is told by its name, what stands there and what should;
nothing is written over it, and the run goes with ``remove_broken``, with all keys that it has."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, seed
from redis import Redis
from test_gc import ended_run, failed_run, left
from test_redrive import plan
from workers import lease_of, put_away
from worlds import RedisWorld, World

from control_plane import (
    BrokenRun,
    Commit,
    Committed,
    DamagedRun,
    RunKeys,
    UnknownRun,
    Wait,
    check_run,
    damage_is_told,
    find_damage,
    remove_broken,
)
from control_plane.documents import schema
from dcf.workflow import explain

pytestmark = settled(*CONTRACT)

Damage = Callable[[World], Awaitable[Any]]
KEYS = RunKeys(RUN)
STATE = KEYS.state("A")


def another(key: str) -> Damage:
    """Something that DCF writes nowhere stands there."""

    async def damage(world: World) -> None:
        await world.backend.command("DEL", key)
        await world.backend.command("SET", key, "x")

    return damage


def says(key: str, place: str, value: str) -> Damage:
    return lambda world: world.backend.command("JSON.SET", key, place, value)


def gone(key: str) -> Damage:
    return lambda world: world.backend.command("DEL", key)


def field(key: str, name: str, value: str) -> Damage:
    return lambda world: world.backend.command("HSET", key, name, value)


def entry(*fields: str) -> Damage:
    return lambda world: world.backend.command("XADD", KEYS.history, "*", *fields)


MOVED_BY: dict[str, tuple[str, Damage, str]] = {
    "paths": (KEYS.paths, another(KEYS.paths), "a string, and should hold a set"),
    "no paths": (KEYS.paths, gone(KEYS.paths), "nothing, and should hold a set"),
    "history": (KEYS.history, another(KEYS.history), "a string, and should hold a stream"),
    "no history": (KEYS.history, gone(KEYS.history), "nothing, and should hold a stream"),
    "no time": (KEYS.history, entry("event", "{}", "digest", "x"), "without at"),
    "no digest": (KEYS.history, entry("at", "7", "event", "{}", "digest", "x"), "not match"),
    "chain": (KEYS.chain, another(KEYS.chain), "a string, and should hold a hash"),
    "no chain": (KEYS.chain, gone(KEYS.chain), "nothing, and should hold a hash"),
    "count": (KEYS.chain, field(KEYS.chain, "events", "x"), "'events' is 'x'"),
    "steps": (KEYS.chain, field(KEYS.chain, "steps", "x"), "'steps' is 'x'"),
    "head": (KEYS.history, field(KEYS.chain, "digest", "x"), "only a part of the events"),
    "due": (KEYS.due, another(KEYS.due), "a string, and should hold a sorted set"),
    "a text for a state": (STATE, another(STATE), "a string, and should hold a JSON document"),
    "no state": (STATE, gone(STATE), "nothing, and should hold a JSON document"),
    "a list for a state": (STATE, says(STATE, "$", "[]"), "JSON that is no object, and should"),
    "ctl": (STATE, says(STATE, "$.ctl", "7"), "JSON without a control record (ctl)"),
    "no visit": (STATE, says(STATE, "$.ctl", "{}"), "JSON without kind"),
    "visit": (STATE, says(STATE, "$.ctl.visit", '"x"'), "the document of a state"),
    "status": (STATE, says(STATE, "$.ctl.status", '"asleep"'), "the document of a state"),
    "another state": (STATE, says(STATE, "$.path", '"B"'), "the document of a state"),
}
"""By name: the key that is told, what somebody does, and what is said of it."""


def told(error: BrokenRun, key: str, said: str) -> bool:
    return key in str(error) and said in str(error) and f"remove {RUN} --broken" in error.hint


@pytest.mark.parametrize("name", MOVED_BY)
async def test_what_a_run_is_moved_by_is_checked_before_it_is_moved(
    world: World, name: str
) -> None:
    key, damage, said = MOVED_BY[name]
    store = world.store()
    await seed(store, linear("A", "B"))
    await check_run(store, RUN)
    await damage(world)
    before = await world.dump()
    with pytest.raises(DamagedRun) as refused:
        await check_run(store, RUN)
    assert told(refused.value, key, said)
    assert await world.dump() == before
    assert await remove_broken(store, RUN)
    assert await left(world) == []


BOOKS = ["paths", "history", "chain", "count", "steps", "due"]


@pytest.mark.parametrize("name", BOOKS)
async def test_a_cancellation_that_cannot_be_told_writes_nothing(world: World, name: str) -> None:
    key, damage, said = MOVED_BY[name]
    store = world.store()
    await seed(store, linear("A", "B"))
    await damage(world)
    before = await world.dump()
    with pytest.raises(DamagedRun) as refused:
        await store.cancel(RUN, by="ada")
    assert told(refused.value, key, said)
    assert await world.dump() == before
    assert await remove_broken(store, RUN)
    assert await left(world) == []


def of_a_state(place: str, value: str) -> Damage:
    return says(KEYS.state("M[1]/U"), place, value)


REDRIVEN = {
    **{name: MOVED_BY[name][:2] for name in BOOKS},
    "ctl": (KEYS.state("M[1]/U"), of_a_state("$.ctl", "7")),
    "visit": (KEYS.state("M[1]/U"), of_a_state("$.ctl.visit", '"x"')),
    "try": (KEYS.state("M[1]/U"), of_a_state("$.ctl.try", "null")),
    "a list": (KEYS.state("M[1]/U"), of_a_state("$", "[]")),
}


@pytest.mark.parametrize("name", REDRIVEN)
async def test_a_redrive_that_cannot_be_made_writes_nothing(world: World, name: str) -> None:
    key, damage = REDRIVEN[name]
    store = await failed_run(world)
    await put_away(store)
    again, resume = await plan(store)
    assert "M[1]/U" in again and resume
    await damage(world)
    before = await world.dump()
    with pytest.raises(DamagedRun) as refused:
        await store.redrive(RUN, again=again, resume=resume)
    assert told(refused.value, key, "")
    assert await world.dump() == before
    assert await remove_broken(store, RUN)
    assert await left(world) == []


OUTPUT, CALLS = KEYS.output("M[0]/T"), KEYS.calls("M[0]/T")
HELD: dict[str, tuple[str, Damage]] = {
    "blobs": (KEYS.blobs, another(KEYS.blobs)),
    "agents": (KEYS.agents, another(KEYS.agents)),
    "audit": (KEYS.audit, another(KEYS.audit)),
    "a list for an audit": (KEYS.audit, says(KEYS.audit, "$", "[]")),
    "output": (OUTPUT, another(OUTPUT)),
    "a list for an output": (OUTPUT, says(OUTPUT, "$", "[]")),
    "calls": (CALLS, another(CALLS)),
    "times": (KEYS.state("M"), says(KEYS.state("M"), "$.times", "7")),
}


@pytest.mark.parametrize("name", HELD)
async def test_what_a_run_holds_is_checked_where_it_cannot_be_read(world: World, name: str) -> None:
    key, damage = HELD[name]
    store = await ended_run(world)
    assert await find_damage(store, RUN) == []
    await damage(world)
    assert [one.key for one in await find_damage(store, RUN)] == [key]
    with pytest.raises(DamagedRun, match="should hold") as refused:
        async with damage_is_told(store, RUN):
            raise TypeError("whatever comes of it")
    assert told(refused.value, key, "")
    assert key in await remove_broken(store, RUN)
    assert await left(world) == []


@pytest.mark.parametrize("spoiled", [True, False])
async def test_a_blob_that_is_another_or_missing_is_told(world: World, spoiled: bool) -> None:
    store = await ended_run(world)
    [name, *_] = sorted(await world.backend.command("SMEMBERS", KEYS.blobs))
    key = KEYS.blob(name)
    await (another(key) if spoiled else gone(key))(world)
    [found] = await find_damage(store, RUN)
    assert (found.key, found.found == "nothing") == (key, not spoiled)
    assert await remove_broken(store, RUN)
    assert await left(world) == []


async def test_a_loop_that_comes_back_while_one_looks_is_no_damage(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow: Flow = {
        "start": "A",
        "states": {"A": {"task": "A", "next": "B"}, "B": {"task": "B", "next": "A"}},
    }
    store = world.store()
    await seed(store, flow, 0)
    lease = await lease_of(store, "A")
    look, moved, one_at_a_time = store.backend.command, 0, asyncio.Lock()

    async def move() -> None:
        nonlocal lease, moved
        moved += 1
        commit = end(flow, lease, moved)
        answer = await store.commit(lease, commit, commit_id=f"c{moved}", in_place=True)
        assert isinstance(answer, Committed)
        assert answer.lease is not None
        lease = answer.lease

    async def command(*args: str | int) -> Any:
        if args in (("TYPE", KEYS.output("A")), ("TYPE", KEYS.output("B"))):
            async with one_at_a_time:
                await move()
        return await look(*args)

    await move()
    monkeypatch.setattr(store.backend, "command", command)
    for _ in range(3):
        assert await find_damage(store, RUN) == []
    assert moved > 6


# -- by the schemas ------------------------------------------------------------------------------

Schema = dict[str, Any]
Place = tuple[str, ...]
_VALUES: dict[str, Any] = {"string": "x", "integer": 7, "array": []}


def members(shape: Schema) -> Iterator[tuple[Place, Schema, bool]]:
    """Where each member of ``shape`` stands, what it may be, and whether it is required."""
    for name, inner in shape.get("properties", {}).items():
        yield (name,), inner, name in shape.get("required", ())
        for place, deeper, required in members(inner):
            yield (name, *place), deeper, required


def spoiled(document: dict[str, Any], shape: Schema) -> Iterator[tuple[str, dict[str, Any]]]:
    """``document`` with one member null, of a wrong type, or missing where it is required."""
    for place, may_be, required in members(shape):
        types = may_be.get("type", [])
        types = [types] if isinstance(types, str) else types
        values: dict[str, Any] = {}
        if "enum" in may_be or (types and "null" not in types):
            values["null"] = None
        if "enum" in may_be or types:
            taken = {"integer" if one == "number" else one for one in types}
            values["of a wrong type"] = next(_VALUES[one] for one in _VALUES if one not in taken)
        for what, value in values.items():
            again = copy.deepcopy(document)
            if (parent := _at(again, place[:-1])) is not None:
                parent[place[-1]] = value
                yield f"{'.'.join(place)} is {what}", again
        again = copy.deepcopy(document)
        if required and place[-1] in (parent := _at(again, place[:-1]) or {}):
            del parent[place[-1]]
            yield f"{'.'.join(place)} is missing", again


def _at(document: dict[str, Any], place: Place) -> dict[str, Any] | None:
    found: Any = document
    for name in place:
        # Within what is required for nobody, nothing is spoiled but itself.
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


async def document_at(world: World, key: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await world.backend.command("JSON.GET", key))
    return found


async def test_each_member_of_a_runs_document_is_checked(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    sound = await document_at(world, KEYS.meta)
    assert await find_damage(store, RUN) == []
    # What the document of a run has only at times.
    sound |= {"budget": {"tokens": 5}, "cost_summary": {}, "callback_secret": "s"}
    unseen, tried = [], 0
    for what, document in spoiled(sound, schema("meta")):
        await world.backend.command("JSON.SET", KEYS.meta, "$", json.dumps(document))
        tried += 1
        try:
            unseen += [what] if not await find_damage(store, RUN) else []
        except BrokenRun:
            continue
        with suppress(BrokenRun):
            # A reader that meets it tells of it, or goes without.
            async with damage_is_told(store, RUN):
                await explain(store, RUN)
    assert unseen == []
    assert tried > 80
    assert await remove_broken(store, RUN)
    assert await left(world) == []


@pytest.mark.parametrize("status", ["ready", "running", "waiting"])
async def test_what_time_moves_a_state_by_is_checked(world: World, status: str) -> None:
    """A null that a script meets ends the script, each time that it is called."""
    store = world.store()
    await seed(store, linear("A", "B"))
    if status != "ready":
        lease = await lease_of(store, "A")
        if status == "waiting":
            wait = Commit("wait", {}, wait=Wait("timer", delay_ms=60_000))
            assert isinstance(await store.commit(lease, wait, commit_id="c"), Committed)
    await check_run(store, RUN)
    sound = await document_at(world, STATE)
    control = sound["ctl"]
    assert control["status"] == status
    needed = {"ready": ["ready_at", "hint_at"], "running": ["lease"], "waiting": ["wait"]}[status]
    cases: list[tuple[str, Any]] = [
        *((f"{name} is null", {**control, name: None}) for name in ctl_members()),
        *((f"{name} is missing", _without(control, name)) for name in needed),
        *((f"{name} is a list", {**control, name: []}) for name in (*TIMES, *needed)),
    ]
    if status == "running":
        lease = control["lease"]
        for name in ("token", "owner", "ts", "ttl", "ends"):
            cases.append((f"lease.{name} is missing", {**control, "lease": _without(lease, name)}))
            cases.append((f"lease.{name} is null", {**control, "lease": {**lease, name: None}}))
    unseen = []
    for what, ctl in cases:
        await world.backend.command("JSON.SET", STATE, "$.ctl", json.dumps(ctl))
        found = await find_damage(store, RUN, whole=False)
        unseen += [what] if [one.key for one in found] != [STATE] else []
    assert unseen == []
    assert await remove_broken(store, RUN)
    assert await left(world) == []


TIMES = ("ready_at", "hint_at", "wait_until", "deadline", "hb_due")


def ctl_members() -> Iterator[str]:
    yield from schema("state")["properties"]["ctl"]["properties"]


def _without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in document.items() if other != name}


async def test_an_error_of_another_cause_stays_what_it_is(world: World) -> None:
    store = await ended_run(world)
    with pytest.raises(TypeError, match="a defect"):
        async with damage_is_told(store, RUN):
            raise TypeError("a defect")
    with pytest.raises(UnknownRun, match="no run other"):
        async with damage_is_told(store, "other"):
            await store.run("other")


@pytest.mark.parametrize(
    "lost", ["meta", "paths", "blobs", "meta paths blobs", "meta history chain paths"]
)
async def test_what_no_set_names_goes_too(world: World, lost: str) -> None:
    store = await ended_run(world)
    await seed(store, linear("A"), run=f"{RUN}-2")
    for name in lost.split():
        await world.backend.command("DEL", getattr(KEYS, name))
    if lost == "blobs":
        # Nobody can tell that there were any: somebody names the run for another reason.
        await another(KEYS.due)(world)
    assert await remove_broken(store, RUN)
    dump = await world.dump()
    assert [key for key in dump if f":{RUN}:" in key] == []
    assert (await store.run(f"{RUN}-2")).status == "running"
    with pytest.raises(UnknownRun):
        await remove_broken(store, RUN)


async def test_a_run_whose_document_is_gone_is_told_by_what_is_left(world: World) -> None:
    store = await ended_run(world)
    await gone(KEYS.meta)(world)
    with pytest.raises(DamagedRun) as missed:
        async with damage_is_told(store, RUN):
            await store.run(RUN)
    assert told(missed.value, KEYS.meta, "holds nothing")
    assert await remove_broken(store, RUN)


async def test_of_a_run_that_is_being_removed_nothing_is_missing(world: World) -> None:
    store = await ended_run(world)
    await gone(KEYS.state("M"))(world)
    assert [one.key for one in await find_damage(store, RUN)] == [KEYS.state("M")]
    born = (await store.run(RUN)).raw["ctl"]["born"]
    request = {"born": born, "mark": True, "paths": [], "blobs": []}
    await store.call("gc", RUN, request, extra=["cp:wf:done"])
    assert await find_damage(store, RUN) == []
    assert await store.remove(RUN) is None


@pytest.mark.parametrize(
    "name", ["paths", "blobs", "chain", "agents", "a blob", "history", "calls"]
)
async def test_bytes_that_are_no_text_are_told(redis_url: str, name: str) -> None:
    world = RedisWorld(redis_url)
    await world.open()
    store = await ended_run(world)
    bytes_ = b"\xff\xfe"
    with Redis.from_url(redis_url) as client:
        blob = min(await world.backend.command("SMEMBERS", KEYS.blobs))
        keys = {"a blob": KEYS.blob(blob), "calls": CALLS}
        key = keys.get(name) or getattr(KEYS, name)
        match name:
            case "paths" | "blobs":
                client.sadd(key, bytes_)
            case "chain" | "agents" | "calls":
                client.hset(key, "x", bytes_)
            case "a blob":
                client.set(key, bytes_)
            case _:
                client.xadd(key, {"at": "7", "event": bytes_, "digest": "x"})
    [found] = await find_damage(store, RUN)
    assert (found.key, found.expected) == (key, "text in UTF-8")
    assert key in await remove_broken(store, RUN)
    assert await left(world) == []
    await world.close()


async def test_what_was_reserved_for_a_request_that_never_ended_is_no_damage(world: World) -> None:
    store = await ended_run(world)
    held = "model_held:call-1"
    await world.backend.command("HSET", KEYS.chain, held, '{"nano":0,"tokens":5}')
    assert await find_damage(store, RUN) == []
    await world.backend.command("HSET", KEYS.chain, held, "5")
    assert [one.key for one in await find_damage(store, RUN)] == [KEYS.chain]
