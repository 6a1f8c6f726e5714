"""When a client was refused or not answered last."""

from __future__ import annotations

import pytest

from control_plane import Disconnected, ServerError
from control_plane.accepting import Gap


class Client:
    """Calls a server at moments of its own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.gap = Gap(lambda: self.now)

    def call(self, at: float, error: Exception | None = None) -> None:
        self.now = at
        try:
            with self.gap.noticed():
                if error is not None:
                    raise error
        except (Disconnected, ServerError):
            return


def test_a_gap_is_told_from_its_first_to_its_last_refusal_and_somewhat_more() -> None:
    client = Client()
    for at in (110.0, 112.0, 116.0):
        client.call(at, Disconnected("away"))
    client.call(120.0)
    assert client.gap.ago_ms() == {"away_from": 12_000, "away_to": 2_000}


@pytest.mark.parametrize("error", [None, ServerError("WRONG")])
def test_whoever_is_answered_has_met_none(error: Exception | None) -> None:
    client = Client()
    client.call(110.0, error)
    client.call(111.0, error)
    assert client.gap.ago_ms() == {}


def test_one_answer_that_is_lost_is_no_gap() -> None:
    client = Client()
    client.call(110.0, Disconnected("lost"))
    client.call(110.1)
    assert client.gap.ago_ms() == {}


def test_refusals_far_apart_are_gaps_of_their_own() -> None:
    client = Client()
    for at in (110.0, 112.0, 140.0, 141.0):
        client.call(at, Disconnected("away"))
    assert client.gap.ago_ms() == {"away_from": 3_000, "away_to": -2_000}
