"""A twin refuses what a server refuses."""

from __future__ import annotations

import pytest
from twin_pair import Wire

from control_plane import Script, ServerError
from control_plane.twin import Twin
from control_plane.twin.catalog import COMMANDS
from control_plane.twin.faults import TAKES_MEMORY, WRITES
from control_plane.twin.stream_reads import READS

OOM = "OOM command not allowed when used memory > 'maxmemory'."
READONLY = "READONLY You can't write against a read only replica."


@pytest.fixture
def twin() -> Twin:
    return Twin(lambda: 1_000_000, strict_keys=False)


def test_what_writes_and_what_takes_memory_is_what_the_server_says(wire: Wire) -> None:
    names = sorted({*COMMANDS, *READS})
    info = wire.command("COMMAND", "INFO", *names)
    # XGROUP itself has no flags, its subcommands have: CREATE takes memory.
    flags = {name: set(found[2]) for name, found in zip(names, info, strict=True)}
    flags["XGROUP"] |= {"write", "denyoom"}
    assert {name for name in names if "denyoom" in flags[name]} == TAKES_MEMORY
    assert {name for name in names if "write" in flags[name]} == WRITES


async def test_out_of_memory_it_reads_and_gives_back(twin: Twin) -> None:
    await twin.command("SET", "k", "v")
    twin.refuse(OOM)
    with pytest.raises(ServerError, match="OOM"):
        await twin.command("SET", "k", "w")
    assert await twin.command("GET", "k") == "v"
    assert await twin.command("DEL", "k") == 1
    twin.refuse(None)
    await twin.command("SET", "k", "w")


async def test_a_script_that_has_written_is_let_go_on(twin: Twin) -> None:
    frees = Script("frees", "redis.call('DEL', 'a') return redis.call('SET', 'k', 'v')")
    twin.refuse(OOM)
    await twin.run(frees, [], [])
    assert await twin.command("GET", "k") == "v"
    twin.refuse(READONLY)
    with pytest.raises(ServerError, match="READONLY"):
        await twin.run(frees, [], [])
