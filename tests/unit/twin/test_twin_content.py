"""The twin's content can be kept, brought back and compared."""

from __future__ import annotations

from control_plane.script import Script
from control_plane.twin import Twin

MOMENT_MS = 1_700_000_000_123

FILL = Script(
    "fill",
    """
    redis.call('SET', 's', ARGV[1], 'PX', 5000)
    redis.call('HSET', 'h', 'f', ARGV[1])
    redis.call('SADD', 'm', 'b', ARGV[1])
    redis.call('ZADD', 'z', 2, 'two', 1, ARGV[1])
    redis.call('JSON.SET', 'j', '$', '{"a":[1,{"b":"' .. ARGV[1] .. '"}]}')
    redis.call('XADD', 'x', '*', 'f', ARGV[1])
    redis.pcall('XGROUP', 'CREATE', 'x', 'g', '0')
    redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'x', '>')
    """,
)
KEYS = ["s", "h", "m", "z", "j", "x"]


async def test_dump_shows_every_key_as_plain_values(twin: Twin) -> None:
    await twin.run(FILL, KEYS, ["v"])
    assert twin.dump() == {
        "h": {"type": "hash", "value": {"f": "v"}, "expires_ms": None},
        "j": {"type": "ReJSON-RL", "value": {"a": [1, {"b": "v"}]}, "expires_ms": None},
        "m": {"type": "set", "value": ["b", "v"], "expires_ms": None},
        "s": {"type": "string", "value": "v", "expires_ms": MOMENT_MS + 5000},
        "x": {
            "type": "stream",
            "value": {
                "entries": [(f"{MOMENT_MS}-0", ("f", "v"))],
                "last_id": f"{MOMENT_MS}-0",
                "groups": {
                    "g": {
                        "last_id": f"{MOMENT_MS}-0",
                        "consumers": ["c"],
                        "pending": {f"{MOMENT_MS}-0": ("c", MOMENT_MS, 1)},
                    }
                },
            },
            "expires_ms": None,
        },
        "z": {"type": "zset", "value": [("v", 1.0), ("two", 2.0)], "expires_ms": None},
    }


async def test_a_dump_does_not_follow_later_changes(twin: Twin) -> None:
    await twin.command("JSON.SET", "j", "$", '{"a":[1]}')
    before = twin.dump()
    await twin.command("JSON.ARRAPPEND", "j", "$.a", "2")
    assert before["j"]["value"] == {"a": [1]}


async def test_restore_brings_back_everything_as_often_as_wanted(twin: Twin) -> None:
    await twin.run(FILL, KEYS, ["old"])
    before, snapshot = twin.dump(), twin.snapshot()
    for _ in range(2):
        await twin.run(FILL, KEYS, ["new"])
        await twin.command("JSON.SET", "j", "$.a[1].b", '"changed"')
        await twin.command("XACK", "x", "g", f"{MOMENT_MS}-0")
        await twin.command("PERSIST", "s")
        await twin.command("SET", "extra", "1")
        assert twin.dump() != before
        twin.restore(snapshot)
        assert twin.dump() == before


async def test_copied_documents_share_nothing(twin: Twin) -> None:
    await twin.command("JSON.SET", "a", "$", '{"l":[1]}')
    await twin.command("JSON.GET", "a")
    await twin.command("COPY", "a", "b")
    await twin.command("JSON.ARRAPPEND", "b", "$.l", "2")
    assert await twin.command("JSON.GET", "a") == '{"l":[1]}'
    assert await twin.command("JSON.GET", "b") == '{"l":[1,2]}'


async def test_texts_that_were_read_follow_every_kind_of_write(twin: Twin) -> None:
    await twin.command("JSON.SET", "a", "$", '{"n":1,"l":[],"o":{"k":1}}')
    for write, expected in [
        (("JSON.NUMINCRBY", "a", "$.n", "1"), '{"n":2,"l":[],"o":{"k":1}}'),
        (("JSON.ARRAPPEND", "a", "$.l", "5"), '{"n":2,"l":[5],"o":{"k":1}}'),
        (("JSON.SET", "a", "$.o.k", "9"), '{"n":2,"l":[5],"o":{"k":9}}'),
        (("JSON.DEL", "a", "$.o.k"), '{"n":2,"l":[5],"o":{}}'),
        (("JSON.MSET", "a", "$.n", "3", "a", "$.l", "[]"), '{"n":3,"l":[],"o":{}}'),
        (("JSON.SET", "a", "$", "[]"), "[]"),
    ]:
        await twin.command("JSON.GET", "a")
        await twin.command(*write)
        assert await twin.command("JSON.GET", "a") == expected
