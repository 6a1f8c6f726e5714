"""What is logged of a Redis that is away: each reason once, and its end once."""

from __future__ import annotations

import pytest

from control_plane import Disconnected, RefusedForNow
from dcf.worker import Outage


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def refused(code: str) -> RefusedForNow:
    return RefusedForNow(f"Redis refuses writes: {code}", refusal=code)


def test_each_reason_is_said_once_and_the_end_once(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    outage = Outage("w1", clock)
    outage.over()
    for _ in range(4):
        outage.seen(refused("OOM"))
        outage.seen(Disconnected("Redis is not reachable: connection refused"))
        clock.now += 0.25
    clock.now += 5
    outage.over()
    outage.over()
    outage.seen(refused("OOM"))
    assert [record.getMessage() for record in caplog.records] == [
        "w1: Redis refuses writes: OOM; waiting for it",
        "w1: Redis is not reachable: connection refused; waiting for it",
        "w1: Redis serves again, after 0.8 s",
        "w1: Redis refuses writes: OOM; waiting for it",
    ]


def test_a_look_that_wrote_nothing_ends_no_outage(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """A sweep writes once a second: one within a second of a refusal may have written nothing."""
    outage = Outage("w1", clock)
    for _ in range(8):
        outage.seen(refused("OOM"))
        clock.now += 0.5
        outage.over()
    assert len(caplog.records) == 1
