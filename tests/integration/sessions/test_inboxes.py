"""A host whose reader of inboxes ends of a defect ends too, for others to take its seats."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from integration.sessions.hosts import ME, Doing, hosts_on

from control_plane import HintQueues, keys
from dcf.sessions import Order
from dcf.workflow import Outcome, Succeeded, Task


async def _do(_task: Task) -> Outcome:
    return Succeeded({}, "did it")


async def test_a_reader_that_ends_of_a_defect_ends_the_host(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")

        async def defect(*_: Any, **__: Any) -> Any:
            raise KeyError("path")

        monkeypatch.setattr(HintQueues, "read", defect)
        host = hosts.host(Doing(_do))
        with pytest.raises(KeyError):
            async with asyncio.timeout(10):
                await hosts.at_work(host)


async def test_what_is_no_hint_keeps_nobody_from_work(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        hosts.host(Doing(_do))
        await hosts.employ("s1", "a")
        inbox = keys.queue("inbox.s1.companion-a")
        await hosts.sessions.backend.command("XADD", inbox, "*", "junk", "1")
        await hosts.sessions.delegate("s1", Order("Do it.", ME, task_id="t"))
        assert (await hosts.closed("s1", "t")).status == "succeeded"
