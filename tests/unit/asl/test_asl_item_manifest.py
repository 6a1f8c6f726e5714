"""Manifests that cannot be read say why in plain words."""

from __future__ import annotations

import pytest

from dcf.asl.effect import ObjectRef
from dcf.asl.errors import EvaluationError
from dcf.asl.maps.item_format import ItemFormat
from dcf.asl.maps.item_manifest import read_manifest

SOURCE = ObjectRef("b", "m.json")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"files": 5}', "its `files` must be an array, found"),
        (b'{"files": [5]}', "`files[0]` must be an object with the text `key`"),
        (b"[1]", "it must be an object, found"),
        (b"\xff", "it is not text in UTF-8: see its byte 0"),
        (b"[" * 100_000, "it nests deeper than 100"),
        (b"9" * 5000, "it has a number with too many digits"),
    ],
)
def test_a_manifest_that_is_none(content: bytes, why: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read_manifest("S3_INVENTORY", content, SOURCE)

    assert caught.value.cause is not None
    assert f"The manifest 'm.json' cannot be read: {why}" in caught.value.cause


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[" * 100_000, "it nests deeper than 100."),
        (b"[" + b"9" * 5000 + b"]", "an integer has 5000 digits, and 4300 is the most"),
    ],
)
def test_items_that_python_would_not_read(content: bytes, why: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        ItemFormat("JSON").parse(content)

    assert caught.value.cause == f"The file is not valid JSON: {why}"
