"""Which number a call repeats, also while others are being asked for."""

from __future__ import annotations

from types import SimpleNamespace

from control_plane import call_name
from dcf.worker.call_numbers import CallNumbers

DIGEST = "sha256:d"


def taken_over() -> CallNumbers:
    """The calls of a lease whose try made DIGEST twice before, each approved."""
    calls = {
        "numbers": {call_name("d", DIGEST): [0, 1]},
        "used": {"q1": 0, "q2": 1},
        "lease": {},
    }
    return CallNumbers(SimpleNamespace(calls=calls), [])  # type: ignore[arg-type]


def test_a_call_that_begins_beside_an_equal_one_is_the_next() -> None:
    numbers = taken_over()
    assert numbers.repeated(DIGEST) == 0
    with numbers.asking(DIGEST, 1):
        assert numbers.repeated(DIGEST) == 1
        assert numbers.is_taken(1)
        assert not numbers.is_taken(2)
    assert not numbers.is_taken(1)


def test_a_call_that_got_no_number_leaves_its_place_to_the_next() -> None:
    numbers = taken_over()
    with numbers.asking(DIGEST, 1):
        pass
    assert numbers.repeated(DIGEST) == 0
    with numbers.asking(DIGEST, 1):
        numbers.given(DIGEST, 0, 1)
    assert numbers.repeated(DIGEST) == 1
