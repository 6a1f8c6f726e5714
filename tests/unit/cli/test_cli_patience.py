"""A command waits for a Redis that refuses for a while, says for what, and not for ever."""

from __future__ import annotations

import asyncio
import math

import pytest

from control_plane import Disconnected, RefusedForGood, RefusedForNow
from control_plane.embedded.errors import ServerReadOnly
from dcf.cli.patience import Patience, wait_s
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, explain_error

OOM = {"refusal": "OOM", "scope": "writes", "reason": "out of memory", "hint": "free some"}
BUSY = {"refusal": "BUSY", "scope": "commands", "reason": "it runs a script", "hint": "kill it"}


def refusal(fields: dict[str, str]) -> RefusedForNow:
    return RefusedForNow(f"Redis refuses {fields['scope']}: {fields['reason']}", **fields)


class Waiting:
    """Patience whose time passes as fast as it waits; ``lines`` are what it said, and when."""

    def __init__(self, limit_s: float = math.inf) -> None:
        self.now = 0.0
        self.lines: list[tuple[int, str]] = []
        self.patience = Patience(
            lambda line: self.lines.append((round(self.now), line)),
            limit_s,
            clock=lambda: self.now,
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.now += seconds

    async def until(self, *refusals: tuple[float, Exception]) -> str:
        """What is served at last, after each of ``refusals`` until its time (s)."""

        async def act() -> str:
            for end, error in refusals:
                if self.now < end:
                    raise error
            return "served"

        return await self.patience.until_served(act)


async def test_each_reason_is_told_when_it_begins_and_every_ten_seconds() -> None:
    waiting = Waiting()
    assert await waiting.until((22, refusal(OOM)), (25, refusal(BUSY))) == "served"
    assert waiting.lines == [
        (0, "Redis refuses writes: out of memory; waiting"),
        (10, "Redis refuses writes since 10 s: out of memory; waiting"),
        (20, "Redis refuses writes since 20 s: out of memory; waiting"),
        (22, "Redis refuses commands since 22 s: it runs a script; waiting"),
    ]


async def test_a_server_that_is_found_as_a_replica_is_waited_for_too() -> None:
    waiting = Waiting()
    replica = ServerReadOnly(server="here", scope="writes", reason="it is a read-only replica")
    assert await waiting.until((3, replica)) == "served"
    assert waiting.lines == [(0, "Redis refuses writes: it is a read-only replica; waiting")]
    waiting = Waiting(60)
    with pytest.raises(ServerReadOnly):
        await waiting.until((99, replica))


async def test_after_its_time_a_command_ends_with_the_refusal_and_how_long_it_was() -> None:
    waiting = Waiting(60)
    with pytest.raises(RefusedForNow) as refused:
        await waiting.until((99, refusal(OOM)))
    assert waiting.now == pytest.approx(60)
    trouble = explain_error(refused.value)
    assert trouble is not None
    assert (trouble.exit_code, trouble.code, trouble.hint) == (3, "redis_refuses", "free some")
    assert trouble.message == "Redis refuses writes since 60 s: out of memory"


@pytest.mark.parametrize("error", [RefusedForGood(hint="a password"), Disconnected(), ValueError()])
async def test_nothing_else_is_waited_for(error: Exception) -> None:
    waiting = Waiting()
    with pytest.raises(type(error)):
        await waiting.until((1, error))
    assert (waiting.now, waiting.lines) == (0, [])


async def test_a_command_that_waits_for_nothing_ends_at_once() -> None:
    waiting = Waiting(0)
    with pytest.raises(RefusedForNow, match=r"^Redis refuses writes: out of memory$"):
        await waiting.until((1, refusal(OOM)))
    assert waiting.lines == []


async def test_ctrl_c_ends_the_waiting_also_where_a_call_loses_it() -> None:
    began = asyncio.Event()

    async def act() -> None:
        began.set()
        # As redis-py does in Python 3.11.
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise refusal(OOM) from None

    task = asyncio.create_task(Patience(lambda _: None).until_served(act))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_done_after_ctrl_c_waits_all_the_same() -> None:
    async def command() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return await Waiting().until((2, refusal(OOM)))
        return "not interrupted"

    task = asyncio.create_task(command())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "served"


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_wait_that_is_no_time_is_told(text: str) -> None:
    assert (wait_s({}), wait_s({"DCF_REDIS_WAIT": "2.5"})) == (60, 2.5)
    with pytest.raises(BadInput, match="DCF_REDIS_WAIT"):
        Settings.from_env({"DCF_REDIS_WAIT": text})
