"""What a server refuses for a while is known as that, by whatever way it is heard; what it refuses
for good is known as that; and no refusal is taken for a document that cannot be stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

import pytest
from flows import RUN, linear, seed, step
from refusing_server import RefusingServer, between, refusing_server
from workers import lease_of, put_away
from worlds import World

from control_plane import (
    AgentStore,
    Committed,
    Disconnected,
    RedisBackend,
    RefusedForGood,
    RefusedForNow,
    Script,
    Store,
    WrongType,
    claims,
    timers,
)
from control_plane.refusals import TABLE, refusal_in
from dcf.workspace import JsonDocuments

WRITES = Script("write", "return redis.call('SET', KEYS[1], 'v')")
READS = Script("read", "return redis.call('GET', KEYS[1])")
FLOW = linear("A", "B")
# As they stand in Redis's source; the rest comes from real servers.
SAID = {
    "LOADING": "LOADING Redis is loading the dataset in memory",
    "CLUSTERDOWN": "CLUSTERDOWN The cluster is down",
    "TRYAGAIN": "TRYAGAIN Multiple keys request during rehashing of slot",
    "UNBLOCKED": "UNBLOCKED force unblock from blocking operation, instance state changed "
    "(master -> replica?)",
    "MAXCLIENTS": "ERR max number of clients reached",
}
REAL = ("OOM", "NOREPLICAS", "READONLY", "MASTERDOWN", "MISCONF", "BUSY", "MAXCLIENTS")
# Of a replica that lost its primary, commands that write hear what they hear of any replica.
HEARD = {
    "MASTERDOWN": {"MASTERDOWN", "READONLY"},
    # It hangs up on whom it does not let in, sometimes before its words are read.
    "MAXCLIENTS": {"MAXCLIENTS", "disconnected"},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RefusingServer]:
    with refusing_server(tmp_path_factory.mktemp("refusing")) as started:
        yield started


@asynccontextmanager
async def backend_on(url: str) -> AsyncIterator[RedisBackend]:
    backend = RedisBackend.from_url(url, connections=4)
    try:
        yield backend
    finally:
        await backend.close()


async def heard(backend: RedisBackend) -> set[str]:
    """How a command, a script and RedisJSON are refused."""
    codes = set()
    for ask in (
        lambda: backend.command("SET", "k", "v"),
        lambda: backend.run(WRITES, ["k"], []),
        lambda: backend.command("JSON.SET", "j", "$", "{}"),
    ):
        # Whoever waits for a server that is away waits for one that refuses.
        with pytest.raises(Disconnected) as refused:
            await ask()
        codes.add(str(refused.value.fields.get("refusal", refused.value.code)))
    return codes


@pytest.mark.parametrize("code", REAL)
async def test_a_refusal_of_a_real_server_passes_and_nothing_was_done(
    server: RefusingServer, code: str
) -> None:
    server.admin.flushall()
    async with backend_on(server.url) as backend:
        store = Store(backend)
        await seed(store, FLOW)
        lease = await lease_of(store, "A")
        commit = await step(store, FLOW, lease)
        with server.refusing[code]():
            assert await heard(backend) <= HEARD.get(code, {code})
            # JSON text goes through redis.pcall, where a refusal must not look like a bad text.
            with pytest.raises(Disconnected):
                await store.commit(lease, commit, commit_id="c1")
            with pytest.raises(Disconnected):
                await AgentStore(backend).create("a", "Ann")
            with pytest.raises(Disconnected):
                await timers.sweep(store)
        assert await backend.command("EXISTS", "k", "j") == 0
        assert isinstance(await store.commit(lease, commit, commit_id="c1"), Committed)
        await timers.sweep(store)


@pytest.mark.parametrize("code", ["OOM", "NOREPLICAS", "READONLY", "MISCONF"])
async def test_who_takes_no_writes_is_read(server: RefusingServer, code: str) -> None:
    server.admin.flushall()
    async with backend_on(server.url) as backend:
        await backend.command("SET", "k", "v")
        with server.refusing[code]():
            assert await backend.command("GET", "k") == "v"
            assert await backend.run(READS, ["k"], []) == "v"


async def test_a_run_is_removed_from_a_server_that_is_out_of_memory(
    server: RefusingServer,
) -> None:
    server.admin.flushall()
    async with backend_on(server.url) as backend:
        store = Store(backend)
        await seed(store, FLOW)
        assert await store.cancel(RUN, by="x") is None
        await put_away(store)
        with server.refusing["OOM"]():
            assert await store.remove(RUN) is None
        assert await backend.command("KEYS", f"*{RUN}*") == []


async def test_a_server_that_loads_its_data_is_waited_for(server: RefusingServer) -> None:
    async with backend_on(server.url) as backend:
        with server.loading(), pytest.raises(RefusedForNow, match="it loads its data"):
            await backend.command("GET", "k")


@pytest.mark.parametrize("code", SAID)
async def test_a_refusal_that_cannot_be_made_here_is_known_by_its_text(
    server: RefusingServer, code: str
) -> None:
    async with between(server.port) as said, backend_on(said.url) as backend:
        assert await backend.command("PING") == "PONG"
        said.says = SAID[code]
        assert await heard(backend) == {code}
        said.says = None
        assert await backend.command("PING") == "PONG"


async def test_a_document_of_agents_is_changed_when_writes_are_taken_again(
    server: RefusingServer,
) -> None:
    server.admin.flushall()
    async with backend_on(server.url) as backend:
        documents = JsonDocuments(backend)
        await documents.create("doc:plan", {"steps": 1})
        refused = Counting(backend)
        with server.refusing["OOM"]():
            adding = asyncio.create_task(JsonDocuments(refused).increment("doc:plan", "$.steps", 1))
            await asyncio.wait_for(refused.once.wait(), 20)
        await adding
        assert await documents.read("doc:plan", "$.steps") == 2


class Counting:
    """A backend; ``once`` is set when it was refused."""

    def __init__(self, inner: RedisBackend) -> None:
        self._inner = inner
        self.once = asyncio.Event()
        self.command, self.close = inner.command, inner.close

    async def run(self, *asked: Any) -> Any:
        try:
            return await self._inner.run(*asked)
        except RefusedForNow:
            self.once.set()
            raise


async def test_after_a_failover_the_address_is_looked_up_again(server: RefusingServer) -> None:
    """A connection to what was the primary says READONLY for as long as it lasts."""
    async with backend_on(server.url) as backend:
        before = await backend.command("CLIENT", "ID")
        with server.refusing["READONLY"](), pytest.raises(RefusedForNow):
            await backend.command("SET", "k", "v")
        assert await backend.command("CLIENT", "ID") != before


# -- for good -----------------------------------------------------------------------------------


async def refused_for_good(backend: RedisBackend, code: str, *asked: Any) -> None:
    with pytest.raises(RefusedForGood) as refused:
        await (backend.run(*asked) if isinstance(asked[0], Script) else backend.command(*asked))
    assert not isinstance(refused.value, Disconnected)
    assert refused.value.fields["refusal"] == code
    assert refused.value.fields["hint"]
    assert "secret" not in str(refused.value) and "user_script" not in str(refused.value)


async def test_a_password_that_is_missing_or_wrong_is_not_waited_for(
    server: RefusingServer,
) -> None:
    server.admin.execute_command("ACL", "SETUSER", "ada", "on", ">secret", "~*", "+@all")
    server.admin.config_set("requirepass", "other")
    try:
        async with backend_on(server.url) as backend:
            await refused_for_good(backend, "NOAUTH", "GET", "k")
        url = server.url.replace("//", "//ada:secret-not@")
        async with backend_on(url) as backend:
            await refused_for_good(backend, "WRONGPASS", "GET", "k")
            await refused_for_good(backend, "WRONGPASS", WRITES, ["k"], [])
    finally:
        server.admin.config_set("requirepass", "")
        server.admin.execute_command("ACL", "SETUSER", "default", "nopass")


@pytest.mark.parametrize("db", ["0", "7"])
async def test_a_password_is_not_waited_for_over_a_unix_socket_either(
    redis_url: str, db: str
) -> None:
    """There redis-py logs in, and chooses the database, while it connects."""
    place, _, _ = redis_url.partition("?")
    assert place.startswith("unix:///")
    wrong = place.replace("//", "//:secret-not@", 1)
    async with backend_on(redis_url) as admin:
        await admin.command("CONFIG", "SET", "requirepass", "other")
        try:
            for url, code in ((place, "NOAUTH"), (wrong, "WRONGPASS")):
                async with backend_on(f"{url}?db={db}") as backend:
                    await refused_for_good(backend, code, "GET", "k")
                    await refused_for_good(backend, code, READS, ["k"], [])
        finally:
            await admin.command("CONFIG", "SET", "requirepass", "")


async def test_a_user_who_may_not_is_told_so_and_no_document_is_blamed(
    server: RefusingServer,
) -> None:
    server.admin.flushall()
    server.admin.execute_command("ACL", "SETUSER", "bob", "on", ">secret", "~*", "+@all")
    async with backend_on(server.url.replace("//", "//bob:secret@")) as backend:
        store = Store(backend)
        await seed(store, FLOW)
        lease = await lease_of(store, "A")
        commit = await step(store, FLOW, lease)
        server.admin.execute_command("ACL", "SETUSER", "bob", "-json.set", "-set")
        await refused_for_good(backend, "NOPERM", "SET", "k", "v")
        await refused_for_good(backend, "NOPERM", WRITES, ["k"], [])
        with pytest.raises(RefusedForGood):
            await store.commit(lease, commit, commit_id="c1")
        with pytest.raises(RefusedForGood):
            await timers.sweep(store)


async def test_a_server_without_json_is_told_from_one_that_is_away(server: RefusingServer) -> None:
    asks = Script("asks", "return redis.call('JSONLESS.GET', KEYS[1])")
    async with backend_on(server.url) as backend:
        await refused_for_good(backend, "UNKNOWN", "JSONLESS.GET", "k")
        await refused_for_good(backend, "UNKNOWN", asks, ["k"], [])


async def test_a_key_that_is_somebody_elses_is_named_as_that(world: World) -> None:
    backend = world.backend
    await backend.command("SET", "k", "v")
    await backend.command("SADD", "s", "v")
    for ask in (
        lambda: backend.command("ZADD", "k", 1, "m"),
        lambda: backend.command("SMEMBERS", "k"),
        lambda: backend.command("JSON.GET", "k"),
        lambda: backend.command("GET", "s"),
        lambda: backend.command("XREAD", "STREAMS", "k", "0"),
        lambda: claims.claim(backend, "k", 1),
    ):
        with pytest.raises(WrongType) as refused:
            await ask()
        assert "of its own" in str(refused.value.fields["hint"])


# -- the table ----------------------------------------------------------------------------------


def test_each_sign_is_of_one_refusal() -> None:
    for one in TABLE:
        for sign in one.signs:
            assert refusal_in(sign) == one
            assert refusal_in(f"ERR {sign} and more") == one
    assert refusal_in("ERR value is not an integer or out of range") is None


def test_scripts_know_the_same_signs() -> None:
    text = (resources.files("control_plane") / "scripts/refusal_prelude.lua").read_text("utf-8")
    listed = text[text.index("{") : text.index("}")].split("'")[1::2]
    assert listed == [sign for one in TABLE for sign in one.signs]


def test_what_is_tried_here_is_all_that_there_is() -> None:
    tried = {*REAL, *SAID, "NOAUTH", "WRONGPASS", "NOPERM", "UNKNOWN", "WRONGTYPE"}
    assert tried == {one.code for one in TABLE}
