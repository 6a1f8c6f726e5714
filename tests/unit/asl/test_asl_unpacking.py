"""Compressed objects are unpacked within a bound."""

from __future__ import annotations

import gzip

import pytest

from dcf.asl.errors import EvaluationError
from dcf.asl.maps import unpacking

MIB = 1 << 20
ZEROS = gzip.compress(bytes(MIB))


def test_only_what_is_compressed_is_unpacked() -> None:
    assert unpacking.unpack((b"[1]", gzip.compress(b"[2]"))) == [b"[1]", b"[2]"]


def test_the_bound_is_256_mib() -> None:
    assert unpacking.MAX_BYTES == 268_435_456


def test_a_bomb_is_left_soon_after_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 2 * MIB)
    # What comes after the bound is broken, and nobody notices: it is never read.
    bomb = ZEROS * 4 + b"\x1f\x8bbroken"

    with pytest.raises(EvaluationError) as caught:
        unpacking.unpack((bomb,))

    assert caught.value.error == "States.ItemReaderFailed"
    assert caught.value.cause == "The compressed files unpack to more than 2097152 bytes."


def test_the_bound_is_that_of_all_objects_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 2 * MIB)

    assert len(unpacking.unpack((ZEROS, ZEROS))) == 2
    with pytest.raises(EvaluationError, match="more than 2097152 bytes"):
        unpacking.unpack((ZEROS, ZEROS, ZEROS))


@pytest.mark.parametrize("content", [ZEROS[:-20], b"\x1f\x8b", b"\x1f\x8bbroken", ZEROS[:500]])
def test_a_broken_object_fails_the_reader(content: bytes) -> None:
    with pytest.raises(EvaluationError, match="The file cannot be decoded") as caught:
        unpacking.unpack((content,))

    assert caught.value.error == "States.ItemReaderFailed"
