"""Any JSON value comes back as it was given; what is no JSON, or too much, is refused first."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from campaigns import CONTRACT, campaign, settled
from flows import RUN, end, linear, seed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from workers import lease_of
from worlds import World, open_world

from control_plane import (
    BadDocument,
    Commit,
    Committed,
    DamagedBlob,
    Lease,
    MissingBlob,
    Payload,
    PayloadTooLarge,
    RedisBackend,
    Script,
    Wait,
    payload,
)
from control_plane.errors import NotText

pytestmark = settled(*CONTRACT)

KEY = "test:value"
# No lone surrogates: those are no text.
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
MARKED = st.sampled_from(["$json", "$blob", "$", "", ".", "ctl"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(MARKED | TEXT, inner, max_size=5),
    max_leaves=12,
)


def nested(levels: int) -> Any:
    """``levels`` lists, one in another."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def exactly(value: Any) -> str:
    """A text that tells 1 from 1.0 and 0.0 from -0.0."""
    return json.dumps(value, sort_keys=True)


class RoundTrip:
    """Store and read a value, the way documents hold it: inside an object."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._store = world.store()

    async def __call__(self, value: Any, *, inline_limit: int = payload.INLINE_LIMIT) -> Any:
        content = payload.encode(value, inline_limit=inline_limit)
        if content.blob is not None:
            await self._store.put_blob(RUN, content, new=True)
        text = f'{{"data":{content.stored}}}'
        await self._world.backend.command("JSON.SET", KEY, "$", text)
        back = await self._world.backend.command("JSON.GET", KEY, ".data")
        assert payload.digest_of(json.loads(back)) == content.digest
        return await self._store.value(RUN, json.loads(back))


@campaign(shares=20)
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=VALUES, inline_limit=st.sampled_from([payload.INLINE_LIMIT, 20]))
async def test_any_value_comes_back_exactly(
    share: int, backend_url: str | None, value: Any, inline_limit: int
) -> None:
    world = await open_world(backend_url)
    assert exactly(await RoundTrip(world)(value, inline_limit=inline_limit)) == exactly(value)
    await world.close()


@pytest.mark.parametrize(
    "value",
    [
        2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30, 2**53 + 1, 0.1, 1e308, 5e-324,
        0.1 + 0.2, -0.0, 1.0, 1e22, 1e23, 123456789012345680.0, 2.5e-10, 9007199254740993.0,
        "\x00", "\u2028", "😀", '"\\', {"\x00": 1}, {"": {}}, [[]], {}, [], "",
        {"$json": "1"}, {"$blob": "x", "size": 1}, [{"$json": 1}], {"a": {"$blob": None}},
        {"$json": {"$json": "{}"}}, nested(100),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
async def test_values_that_json_stores_often_change(world: World, value: Any) -> None:
    assert exactly(await RoundTrip(world)(value)) == exactly(value)


async def test_a_value_travels_through_a_whole_step_exactly(world: World) -> None:
    value = {"big": 2**80, "float": 0.1, "list": [], "mark": {"$json": "x"}, "deep": nested(90)}
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow, value)
    lease = await lease_of(store, "A")
    assert exactly(lease.input) == exactly(value)
    answer = await store.commit(lease, end(flow, lease, value), commit_id="c1", in_place=True)
    assert isinstance(answer, Committed)
    assert answer.lease is not None
    await store.release(answer.lease)
    assert exactly((await lease_of(store, "B")).input) == exactly(value)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), -float("inf"), [float("nan")], "\ud800", {"\udfff": 1},
        ["a", {"b": "\udc00"}], {1: 2}, {None: 1}, {1, 2}, object(), b"x", nested(101),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(BadDocument):
        payload.encode(value)


@pytest.mark.parametrize("value", [float("nan"), {"a": float("inf")}, object(), nested(100_000)])
def test_members_that_are_no_json_are_refused_too(value: Any) -> None:
    """Summaries, metrics and events do not go through ``encode``."""
    with pytest.raises(BadDocument):
        payload.to_text({"metrics": value})


def test_a_circle_is_no_json() -> None:
    # An encoder that goes round until the stack ends writes the long text a thousand times.
    circle: list[Any] = ["x" * 1_000_000]
    circle.append({"inner": circle})
    with pytest.raises(BadDocument, match="Circular reference"):
        payload.to_text(circle)


@pytest.mark.parametrize("characters, blob", [(256 * 1024 - 2, False), (256 * 1024 - 1, True)])
def test_values_over_256_kib_become_blobs(characters: int, blob: bool) -> None:
    content = payload.encode("x" * characters)
    assert content.size == characters + 2
    assert (content.blob is not None) is blob


def test_sizes_are_bytes_not_characters() -> None:
    assert payload.encode("ä" * 10).size == 22
    assert payload.encode("ä" * (128 * 1024)).blob is not None


def test_values_over_16_mib_are_refused() -> None:
    limit = 16 * 1024 * 1024
    assert payload.encode("x" * (limit - 2)).size == limit
    with pytest.raises(PayloadTooLarge) as refused:
        payload.encode("x" * (limit - 1))
    assert str(refused.value) == (
        f"The payload has {limit + 1} bytes; at most {limit} can be stored."
    )


async def test_a_value_of_16_mib_comes_back(world: World) -> None:
    value = "y" * (16 * 1024 * 1024 - 2)
    assert await RoundTrip(world)(value) == value


async def test_a_blob_that_the_server_forgot_before_it_was_referred_to_is_stored_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica took over that had not yet heard of it."""
    store, flow, forgotten = world.store(), linear("A", "B"), list[str]()
    put_blob = store.put_blob

    async def put_and_forget(workflow_id: str, content: Payload, *, new: bool = False) -> None:
        await put_blob(workflow_id, content, new=new)
        if content.digest not in forgotten:
            forgotten.append(content.digest)
            await world.backend.command("DEL", store.keys(RUN).blob(content.digest))

    monkeypatch.setattr(store, "put_blob", put_and_forget)
    given, result = "g" * 300_000, "r" * 300_000
    await seed(store, flow, given)
    lease = await lease_of(store, "A")
    assert lease.input == given
    assert isinstance(await store.commit(lease, end(flow, lease, result), commit_id="c"), Committed)
    lease = await lease_of(store, "B")
    assert lease.input == result
    answer = "a" * 300_000
    waits = Commit("wait", {"type": "WaitStarted", "path": "B"}, wait=Wait("callback"))
    assert isinstance(await store.commit(lease, waits, commit_id="w"), Committed)
    about = {"visit": lease.visit, "try_": lease.try_, "event": "callback"}
    assert await store.signal(RUN, "B", **about, value=answer) is None
    assert (await lease_of(store, "B")).event_payload == answer
    assert len(forgotten) == 3


async def test_a_blob_that_is_missing_is_an_error_that_names_its_key(world: World) -> None:
    store, content = world.store(), payload.encode("x" * 300_000)
    key = store.keys(RUN).blob(content.digest)
    with pytest.raises(MissingBlob, match=f"{key}.*not stored"):
        await store.value(RUN, json.loads(content.stored))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("SET", '"other"'), "does not match its digest"),
        (("SET", "{"), "does not match its digest"),
        (("HSET", "a", "b"), "is no text"),
    ],
)
async def test_a_blob_that_was_changed_is_an_error_that_says_so(
    world: World, command: tuple[str, ...], told: str
) -> None:
    store, content = world.store(), payload.encode("x" * 300_000)
    key = store.keys(RUN).blob(content.digest)
    await world.backend.command(command[0], key, *command[1:])
    with pytest.raises(DamagedBlob, match=f"{key}.*{told}"):
        await store.value(RUN, json.loads(content.stored))


async def test_a_blob_that_is_no_json_is_an_error_that_says_so(world: World) -> None:
    store, text = world.store(), "no JSON"
    stored = {"$blob": payload.digest(text), "size": len(text)}
    await world.backend.command("SET", store.keys(RUN).blob(stored["$blob"]), text)
    with pytest.raises(DamagedBlob, match="is no JSON"):
        await store.value(RUN, stored)


async def test_a_blob_that_is_no_utf8_is_an_error_that_says_so(redis_url: str) -> None:
    world = await open_world(redis_url)
    try:
        store, content = world.store(), payload.encode("x" * 300_000)
        key = store.keys(RUN).blob(content.digest)
        async with Redis.from_url(redis_url) as client:
            await client.set(key, b"\xff\xfe")
        with pytest.raises(DamagedBlob, match=f"{key}.*no UTF-8"):
            await store.value(RUN, json.loads(content.stored))
        # The connection is still one to work with.
        assert await world.backend.command("EXISTS", key) == 1
    finally:
        await world.close()


async def test_what_is_leased_and_cannot_be_read_says_so(world: World) -> None:
    store, flow = world.store(), linear("A", "B")
    await seed(store, flow, "g" * 300_000)
    key = store.keys(RUN).blob(payload.encode("g" * 300_000).digest)
    await world.backend.command("DEL", key)
    lease = await lease_of(store, "A")
    assert lease.damage is not None and key in str(lease.damage)
    held = await store.held(RUN, "A", lease.token)
    assert isinstance(held, Lease) and held.damage is not None
    # Whoever holds it may fail it.
    assert await store.release(lease) is None


async def test_a_script_that_gives_no_utf8_spoils_no_other_of_its_batch(redis_url: str) -> None:
    get = Script("get", "return redis.call('GET', KEYS[1])")
    backend = RedisBackend.from_url(redis_url)
    names = [f"text-{number}" for number in range(40)]
    try:
        async with Redis.from_url(redis_url) as client:
            await client.mset({name: name for name in names})
            await client.set("text-7", b"ab\xff\xfe")
        replies = await asyncio.gather(
            *(backend.run(get, [name], []) for name in names), return_exceptions=True
        )
    finally:
        await backend.close()
    assert isinstance(replies[7], NotText)
    assert [one for one in replies if one is not replies[7]] == [
        name for name in names if name != "text-7"
    ]
