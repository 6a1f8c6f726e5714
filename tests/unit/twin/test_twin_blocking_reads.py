"""Blocking reads wait on the event loop alone, so that a loop with virtual time drives them."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin import Twin


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time jumps to the next timer whenever nothing else is left to do."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_NoWait(self))

    def time(self) -> float:
        return self.now


class _NoWait(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everything waits for ever")
        self._loop.now += max(0.0, timeout)
        return super().select(0)


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    yield loop
    loop.close()


@pytest.fixture
def virtual(loop: VirtualLoop) -> Twin:
    return Twin(lambda: int(loop.now * 1_000_000))


def together(loop: VirtualLoop, *steps: Coroutine[Any, Any, Any]) -> list[Any]:
    async def main() -> list[Any]:
        return await asyncio.gather(*steps)

    return loop.run_until_complete(main())


async def later(seconds: float, step: Coroutine[Any, Any, Any]) -> Any:
    await asyncio.sleep(seconds)
    return await step


def read(twin: Twin, consumer: str = "c", block_ms: int = 2000) -> Coroutine[Any, Any, Any]:
    return twin.command(
        *("XREADGROUP", "GROUP", "g", consumer, "COUNT", 1, "BLOCK", block_ms, "STREAMS", "q", ">")
    )


def make_group(loop: VirtualLoop, twin: Twin) -> None:
    loop.run_until_complete(twin.command("XGROUP", "CREATE", "q", "g", "$", "MKSTREAM"))


def test_a_read_that_nothing_answers_ends_at_its_timeout(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)
    assert together(loop, read(virtual, block_ms=1500)) == [None]
    assert loop.now == pytest.approx(1001.5, abs=0.01)


def test_an_entry_ends_the_wait(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)
    add = later(0.5, virtual.command("XADD", "q", "5-0", "f", "v"))
    assert together(loop, read(virtual, block_ms=0), add)[0] == [["q", [["5-0", ["f", "v"]]]]]
    assert loop.now == pytest.approx(1000.5, abs=0.01)


def test_an_entry_that_a_script_adds_ends_the_wait(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)
    script = Script("add", "return redis.call('XADD', KEYS[1], '5-0', 'f', 'v')")
    replies = together(loop, read(virtual), later(0.5, virtual.run(script, ["q"], [])))
    assert replies[0] == [["q", [["5-0", ["f", "v"]]]]]


def test_who_waits_longest_is_served_first(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)
    replies = together(
        loop,
        read(virtual, "first"),
        read(virtual, "second"),
        later(0.1, virtual.command("XADD", "q", "5-0", "f", "v")),
        later(0.2, virtual.command("XADD", "q", "6-0", "f", "v")),
    )
    assert [reply[0][1][0][0] for reply in replies[:2]] == ["5-0", "6-0"]


def test_a_change_that_does_not_help_does_not_prolong_the_wait(
    loop: VirtualLoop, virtual: Twin
) -> None:
    make_group(loop, virtual)
    replies = together(
        loop,
        read(virtual, "first", block_ms=2000),
        read(virtual, "second", block_ms=1000),
        later(0.9, virtual.command("XADD", "q", "5-0", "f", "v")),
    )
    assert replies[1] is None
    assert loop.now == pytest.approx(1001.0, abs=0.01)


def test_the_end_of_the_group_ends_the_wait_with_an_error(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)
    with pytest.raises(ServerError, match="NOGROUP"):
        together(loop, read(virtual), later(0.1, virtual.command("DEL", "q")))


def test_a_cancelled_read_takes_nothing(loop: VirtualLoop, virtual: Twin) -> None:
    make_group(loop, virtual)

    async def main() -> Any:
        waiting = asyncio.ensure_future(read(virtual))
        await asyncio.sleep(0.1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await virtual.command("XADD", "q", "5-0", "f", "v")
        return await virtual.command("XPENDING", "q", "g")

    assert loop.run_until_complete(main()) == [0, None, None, None]


def test_xread_from_now_on_waits_for_the_next_entry(loop: VirtualLoop, virtual: Twin) -> None:
    together(loop, virtual.command("XADD", "q", "5-0", "f", "old"))
    replies = together(
        loop,
        virtual.command("XREAD", "BLOCK", 0, "STREAMS", "q", "other", "$", "$"),
        later(0.5, virtual.command("XADD", "other", "1-0", "f", "new")),
    )
    assert replies[0] == [["other", [["1-0", ["f", "new"]]]]]


def test_in_a_script_nothing_waits(loop: VirtualLoop, virtual: Twin) -> None:
    script = Script("read", "return redis.call('XREAD', 'BLOCK', '0', 'STREAMS', KEYS[1], '$')")
    assert together(loop, virtual.run(script, ["q"], [])) == [None]
