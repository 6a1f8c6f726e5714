"""What the twin adds to a server's scripts: a given clock, strict keys, faults that strike."""

from __future__ import annotations

import pytest

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin import Twin, UndeclaredKey, Unsupported

MOMENT_US = 1_700_000_000_123_456


def script(source: str) -> Script:
    return Script("test", source)


async def test_time_is_the_clock_and_stands_still_in_a_script() -> None:
    moments = iter(range(MOMENT_US, MOMENT_US + 100))
    twin = Twin(lambda: next(moments))
    reply = await twin.run(
        script("return {redis.call('TIME')[2], redis.call('TIME')[2], redis.call('TIME')[1]}"),
        [],
        [],
    )
    assert reply == ["123456", "123456", "1700000000"]
    assert await twin.command("TIME") == ["1700000000", "123457"]


async def test_a_generated_entry_id_is_the_clock_in_milliseconds(twin: Twin) -> None:
    assert await twin.command("XADD", "s", "*", "f", "v") == "1700000000123-0"
    assert await twin.command("XADD", "s", "*", "f", "v") == "1700000000123-1"


async def test_keys_expire_by_the_clock() -> None:
    now_us = MOMENT_US
    twin = Twin(lambda: now_us)
    await twin.command("SET", "k", "v", "PX", 1500)
    now_us += 1_500_000
    assert await twin.command("PTTL", "k") == 0
    now_us += 1_000
    assert await twin.command("GET", "k") is None
    assert await twin.command("DBSIZE") == 0
    assert twin.dump() == {}


async def test_an_undeclared_key_is_a_defect_that_no_pcall_hides(twin: Twin) -> None:
    for source in (
        "return redis.call('GET', 'b')",
        "return redis.pcall('GET', 'b')",
        "return pcall(redis.call, 'GET', 'b')",
        "return xpcall(function() redis.call('GET', 'b') end, function() return 1 end)",
    ):
        with pytest.raises(UndeclaredKey, match="GET touches 'b'"):
            await twin.run(script(source), ["a"], [])
    assert await twin.run(script("return redis.call('GET', 'a')"), ["a"], []) is None


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("'MGET_', 'x'", None),
        ("'DEL', 'a', 'x'", "x"),
        ("'RENAME', 'a', 'x'", "x"),
        ("'JSON.MSET', 'a', '$', '1', 'x', '$', '1'", "x"),
        ("'JSON.MGET', 'a', 'x', '$'", "x"),
        ("'XREAD', 'COUNT', '1', 'STREAMS', 'a', 'x', '0', '0'", "x"),
        ("'XGROUP', 'CREATE', 'x', 'g', '$', 'MKSTREAM'", "x"),
        ("'XINFO', 'STREAM', 'x'", "x"),
    ],
)
async def test_every_key_argument_of_a_command_counts(
    twin: Twin, command: str, key: str | None
) -> None:
    expected = UndeclaredKey if key else Unsupported
    with pytest.raises(expected):
        await twin.run(script(f"return redis.call({command})"), ["a"], [])


async def test_keys_with_the_hash_tag_of_a_declared_key_are_on_the_same_node(twin: Twin) -> None:
    touch = script("return redis.call('SET', ARGV[1], 1)")
    assert await twin.run(touch, ["cp:{w1}:meta"], ["cp:{w1}:due"]) == "OK"
    with pytest.raises(UndeclaredKey):
        await twin.run(touch, ["cp:{w1}:meta"], ["cp:{w2}:due"])
    with pytest.raises(UndeclaredKey):
        await twin.run(touch, ["cp:{}:meta"], ["cp:{}:due"])


async def test_without_strict_keys_a_script_may_derive_names() -> None:
    twin = Twin(lambda: MOMENT_US, strict_keys=False)
    assert await twin.run(script("return redis.call('SET', KEYS[1] .. 'x', 1)"), ["a"], []) == "OK"


async def test_randomness_is_not_offered(twin: Twin) -> None:
    with pytest.raises(ServerError, match="random"):
        await twin.run(script("return math.random()"), [], [])


async def test_a_script_that_runs_again_sees_its_own_keys_and_arguments(twin: Twin) -> None:
    echo = script("return {KEYS[1], ARGV[1], #KEYS, #ARGV}")
    assert await twin.run(echo, ["a"], ["b", "c"]) == ["a", "b", 1, 2]
    assert await twin.run(echo, ["d"], [5]) == ["d", "5", 1, 1]
    assert await twin.run(echo, [], []) == []


async def test_many_keys_and_arguments_fit(twin: Twin) -> None:
    count = script("return {#KEYS, #ARGV, ARGV[#ARGV]}")
    reply = await twin.run(count, list(map(str, range(20_000))), range(20_000))
    assert reply == [20_000, 20_000, "19999"]


async def test_an_error_names_its_line_and_its_script(twin: Twin) -> None:
    broken = script("local a\n\nlocal b = redis.call('INCR', KEYS[1], 1)")
    with pytest.raises(ServerError) as caught:
        await twin.run(broken, ["a"], [])
    assert str(caught.value) == (
        "ERR Wrong number of args calling Redis command from script "
        f"script: {broken.sha1}, on @user_script:3."
    )


STEPS = script(
    "redis.call('SET', KEYS[1], 1) redis.call('SET', KEYS[1], 2) redis.call('SADD', KEYS[2], 'm')"
)


async def test_the_nth_matching_command_fails_once_and_is_not_executed(twin: Twin) -> None:
    twin.fail_next("set", "OOM command not allowed", nth=2)
    with pytest.raises(ServerError, match=r"^OOM command not allowed script: "):
        await twin.run(STEPS, ["a", "b"], [])
    assert await twin.command("GET", "a") == "1"
    assert await twin.command("EXISTS", "b") == 0
    await twin.run(STEPS, ["a", "b"], [])
    assert await twin.command("GET", "a") == "2"


async def test_each_command_of_a_script_can_be_made_to_fail(twin: Twin) -> None:
    await twin.run(STEPS, ["a", "b"], [])
    assert twin.last_calls == ("SET", "SET", "SADD")
    for nth in range(1, 4):
        twin.fail_next("*", "OOM no", nth)
        with pytest.raises(ServerError, match=r"^OOM no"):
            await twin.run(STEPS, ["a", "b"], [])
        assert len(twin.last_calls) == nth


async def test_a_script_can_catch_a_fault(twin: Twin) -> None:
    twin.fail_next("SET", "OOM no")
    assert (
        await twin.run(script("return redis.pcall('SET', KEYS[1], 1).err"), ["a"], []) == "OOM no"
    )


async def test_faults_concern_scripts_only_and_can_be_cleared(twin: Twin) -> None:
    twin.fail_next("SET", "OOM no")
    assert await twin.command("SET", "a", 1) == "OK"
    twin.clear_faults()
    await twin.run(STEPS, ["a", "b"], [])
    with pytest.raises(ValueError, match="counts from 1"):
        twin.fail_next("SET", "OOM no", nth=0)
