"""An error at any command inside a script leaves everything as it was, and can be repeated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, meta, seed, step
from interleaved import Breaking
from redis import Redis
from test_gc import ended_run
from test_join import fanned
from workers import audit, lease_of
from worlds import RedisWorld, TwinWorld, World

from control_plane import (
    BadDocument,
    Committed,
    ControlPlaneError,
    Disconnected,
    Failure,
    FirstState,
    Payload,
    RefusedForNow,
    ServerError,
    Store,
    UnknownRun,
    history,
    payload,
)

pytestmark = settled(*CONTRACT)

OOM = "OOM command not allowed when used memory > 'maxmemory'."
NO_JSON = "ERR expected value at line 1 column 2"
TOO_DEEP = "ERR recursion limit exceeded at line 1 column 128"

Call = Callable[[], Awaitable[Any]]
MAP: Flow = fanned(linear("T"))


async def _seed(world: World, store: Store) -> Call:
    first = FirstState("A", "Task", payload.encode(1))
    given = {"digest": "d", "meta": meta(linear("A", "B"), 1), "start": first}
    return lambda: store.seed(RUN, states=[("A", "Task"), ("B", "Task")], **given)


async def _acquire(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    return lambda: store.acquire(RUN, "A", owner="w", token="0" * 32)


async def _renew(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    return lambda: store.renew(lease)


async def _release(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    return lambda: store.release(lease)


async def _commit_next(world: World, store: Store) -> Call:
    flow = linear("A", "B")
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = replace(end(flow, lease, 1), metrics={"calls": 1})
    return lambda: store.commit(lease, commit, commit_id="c1", in_place=True)


async def _commit_loop(world: World, store: Store) -> Call:
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "next": "A"}}}
    await seed(store, flow)
    lease = await lease_of(store, "A")
    return lambda: store.commit(lease, end(flow, lease, 1), commit_id="c1")


async def _commit_fan(world: World, store: Store) -> Call:
    await seed(store, MAP, [1, 2])
    lease = await lease_of(store, "M")
    commit = await step(store, MAP, lease)
    return lambda: store.commit(lease, commit, commit_id="c1")


async def _commit_last_branch(world: World, store: Store) -> Call:
    call = await _commit_fan(world, store)
    await call()
    for number in range(2):
        ticket = await lease_of(store, f"M[{number}]")
        await store.commit(ticket, await step(store, MAP, ticket), commit_id=f"o{number}")
    first, last = await lease_of(store, "M[0]/T"), await lease_of(store, "M[1]/T")
    await store.commit(first, end(MAP, first, 1), commit_id="t0")
    return lambda: store.commit(last, end(MAP, last, 2), commit_id="t1")


async def _commit_failure(world: World, store: Store) -> Call:
    flow = linear("A")
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = end(flow, lease, None, Failure("Boom"))
    return lambda: store.commit(lease, commit, commit_id="c1")


async def _commit_retry(world: World, store: Store) -> Call:
    flow = linear("A", retry=1)
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = end(flow, lease, None, Failure("Boom"))
    return lambda: store.commit(lease, commit, commit_id="c1")


async def _signal(world: World, store: Store) -> Call:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    return lambda: store.signal(RUN, "A", visit=1, try_=1, event="callback", value={"ok": 1})


async def _cancel(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    return lambda: store.cancel(RUN, by="x")


async def _move(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    return lambda: store.move(RUN, "gpu", turn=1, by="x")


async def _move_revoking(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    await lease_of(store, "A")
    return lambda: store.move(RUN, "gpu", turn=1, by="x", revoke=True)


async def _close(world: World, store: Store) -> Call:
    await (await _cancel(world, store))()
    return lambda: store.close(RUN)


async def _finalize(world: World, store: Store) -> Call:
    await (await _close(world, store))()
    sealed = await history.seal(store, RUN)
    record = audit("cancelled")
    return lambda: store.finalize(
        RUN, digest=sealed.head, paths=0, by="x", audit=record, cost={"usd": 0}
    )


async def _redrive(world: World, store: Store) -> Call:
    await (await _close(world, store))()
    return lambda: store.redrive(RUN, again=["A"], resume=[])


async def _reserve(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    return lambda: store.reserve(lease, "c1", {"type": "No"}, tokens=9, nano_usd=9)


async def _bill(world: World, store: Store) -> Call:
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    await store.reserve(lease, "c1", {"type": "No"}, tokens=9, nano_usd=9)
    return lambda: store.bill(lease, "c1", {"type": "Yes"}, tokens=5, nano_usd=None)


SCENES = {
    scene.__name__[1:]: scene
    for scene in (
        _seed, _acquire, _renew, _release, _commit_next, _commit_loop, _commit_fan,
        _commit_last_branch, _commit_failure, _commit_retry, _signal, _cancel, _move,
        _move_revoking, _close, _finalize, _redrive, _reserve, _bill,
    )
}  # fmt: skip
READS = {"TIME", "JSON.GET", "HGET", "HMGET", "HEXISTS", "ZSCORE", "EXISTS", "ZRANGE"}
# These give memory back and are never refused.
FREEING = {"DEL", "XACK", "XDEL", "ZREM", "SREM"}


def fallible(calls: tuple[str, ...]) -> list[tuple[int, str]]:
    """The commands of a script that a server can refuse, by number: the first that takes memory
    (none, once a script has written), and what the client wrote before any value of our own."""
    faults = []
    for number, name in enumerate(calls, start=1):
        if name in READS | FREEING:
            continue
        if not faults:
            faults.append((number, OOM))
        if name != "JSON.SET":
            break
        faults += [(number, NO_JSON), (number, TOO_DEEP)]
    return faults


async def prepared(scene: str) -> tuple[TwinWorld, Call]:
    world = TwinWorld()
    return world, await SCENES[scene](world, world.store())


@pytest.mark.parametrize("scene", SCENES)
async def test_a_refused_command_changes_nothing_and_the_call_can_be_repeated(scene: str) -> None:
    world, call = await prepared(scene)
    expected = await call()
    calls, content = world.twin.last_calls, await world.dump()
    faults = fallible(calls)
    assert faults
    for number, message in faults:
        world, call = await prepared(scene)
        before = await world.dump()
        world.twin.fail_next("*", message, number)
        with pytest.raises(ControlPlaneError) as refused:
            await call()
        assert isinstance(refused.value, ServerError) or message != OOM
        assert await world.dump() == before, f"{calls[number - 1]}, number {number}: {message}"
        assert await call() == expected
        if scene not in ("seed", "signal", "cancel", "finalize", "redrive"):
            # (those number their calls: the repetition has another id)
            assert await world.dump() == content


BAD_TEXTS = {
    "no JSON": "{bad",
    "cut off": '{"a":[1',
    "two values": "1 2",
    "too deep": "[" * 140 + "]" * 140,
    "empty": "",
}


@pytest.mark.parametrize("place", ["output", "input", "fan"])
@pytest.mark.parametrize("text", BAD_TEXTS)
async def test_text_that_the_server_refuses_changes_nothing(
    world: World, text: str, place: str
) -> None:
    """As a client might send it that does not check."""
    store = world.store()
    bad = Payload(BAD_TEXTS[text], "0" * 64, 1)
    flow = MAP if place == "fan" else linear("A", "B")
    await seed(store, flow, [1])
    lease = await lease_of(store, "M" if place == "fan" else "A")
    good = await step(store, flow, lease)
    commit = good
    if place == "output":
        assert good.output is not None
        commit = replace(good, output=replace(good.output, data=bad))
    elif place == "input":
        assert good.enter is not None
        commit = replace(good, enter=replace(good.enter, input=bad))
    else:
        assert good.fan is not None
        if text in ("empty", "two values"):
            return  # the first is the protocol's word for "none", of the second JSON.SET takes one
        commit = replace(good, fan=replace(good.fan, fan=bad))
    before = await world.dump()
    with pytest.raises(BadDocument):
        await store.commit(lease, commit, commit_id="c1")
    assert await world.dump() == before
    assert isinstance(await store.commit(lease, good, commit_id="c1"), Committed)


@contextmanager
def out_of_memory(url: str) -> Iterator[None]:
    """A server that takes no more writes."""
    with Redis.from_url(url) as client:
        client.config_set("maxmemory", 1)
        try:
            yield
        finally:
            client.config_set("maxmemory", 0)


@pytest.mark.parametrize("scene", [name for name in SCENES if name != "acquire"])
async def test_a_server_out_of_memory_refuses_a_call_as_a_whole(redis_url: str, scene: str) -> None:
    world = RedisWorld(redis_url)
    await world.open()
    call = await SCENES[scene](world, world.store())
    before = await world.dump()
    with out_of_memory(redis_url), pytest.raises(RefusedForNow, match="out of memory"):
        await call()
    assert await world.dump() == before
    await world.advance(1)
    await call()
    assert await world.dump() != before
    await world.close()


async def test_a_removal_that_had_begun_goes_on_while_the_server_is_out_of_memory(
    redis_url: str,
) -> None:
    world = RedisWorld(redis_url)
    await world.open()
    store = await ended_run(world)
    with pytest.raises(Disconnected):
        await world.store(Breaking(world.backend, 2, "after")).remove(RUN)
    assert (await store.run(RUN)).removing
    with out_of_memory(redis_url):
        assert await store.remove(RUN) is None
    with pytest.raises(UnknownRun):
        await store.run(RUN)
    await world.close()
