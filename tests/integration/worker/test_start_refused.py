"""A Redis that refuses while a command or a worker starts: it is waited for, unless it refuses for
good."""

from __future__ import annotations

import asyncio
import math
import os

import pytest
from refusing_server import RefusingServer
from unit.workflow.stage import document_of, flow

from control_plane.embedded import Address, ServerUnusable
from dcf.cli.patience import Patience
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.workflow import submit


class Said:
    """What is said of a waiting; ``first`` is set by the first line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first = asyncio.Event()
        self.patience = Patience(self.say, math.inf)

    def say(self, line: str) -> None:
        self.lines.append(line)
        self.first.set()


def settings(url: str) -> Settings:
    return Settings.from_env({**os.environ, "DCF_REDIS_URL": url, "DCF_REDIS_WAIT": "0"})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("READONLY", "Redis refuses writes: it is a read-only replica; waiting"),
        ("MASTERDOWN", "Redis refuses writes: it is a read-only replica; waiting"),
        ("BUSY", "Redis refuses commands: it runs a script that does not end; waiting"),
        ("MAXCLIENTS", "Redis refuses commands: too many clients are connected; waiting"),
    ],
)
async def test_who_starts_meanwhile_waits_until_it_serves(
    redis: RefusingServer, code: str, said: str
) -> None:
    waiting = Said()
    with redis.refusing[code]():
        starting = asyncio.create_task(
            find_redis(settings(redis.url), Screen(as_json=True), waiting.patience)
        )
        await asyncio.wait_for(waiting.first.wait(), 20)
        assert not starting.done()
    assert (await asyncio.wait_for(starting, 20)).url == redis.url
    assert waiting.lines[0] == said


async def test_it_waits_while_the_server_loads(redis: RefusingServer) -> None:
    waiting = Said()
    with redis.loading():
        await find_redis(settings(redis.url), Screen(as_json=True), waiting.patience)
    assert waiting.lines[0] == "Redis refuses commands: it loads its data; waiting"


async def test_a_wrong_password_is_not_waited_for(redis: RefusingServer) -> None:
    waiting = Said()
    url = redis.url.replace("//", "//nobody:wrong@")
    with pytest.raises(ServerUnusable, match="refuses the login"):
        await find_redis(settings(url), Screen(as_json=True), waiting.patience)
    assert waiting.lines == []


async def test_a_submission_that_is_refused_is_said_again_and_there_once(
    redis: RefusingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Said()
    monkeypatch.setattr(Screen, "warn", lambda _, line: waiting.say(line))
    monkeypatch.setenv("DCF_REDIS_WAIT", "60")
    address = Address(redis.url, "configured")
    document = document_of(flow(A={"Type": "Pass"}))
    async with open_store(address) as store:
        with redis.refusing["OOM"]():
            submitting = asyncio.create_task(submit(store, document, 7, workflow_id="r"))
            await asyncio.wait_for(waiting.first.wait(), 20)
            assert not submitting.done()
        assert await asyncio.wait_for(submitting, 20)
        assert not await submit(store, document, 7, workflow_id="r")
    assert waiting.lines == ["Redis refuses writes: out of memory; waiting"]
