"""Every error is documented, has a code of its own, and says what to do."""

from __future__ import annotations

from string import Formatter

import pytest

from control_plane.embedded import ServerUnusable, errors

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, ServerUnusable)
]


def fields_of(error: type[ServerUnusable]) -> dict[str, object]:
    patterns = f"{error.__doc__} {error.remedy}"
    named = Formatter().parse(patterns)
    return {name: 7 if spec else name.upper() for _, name, spec, _ in named if name}


def test_codes_are_unique() -> None:
    assert len({error.code for error in CLASSES}) == len(CLASSES) > 10


@pytest.mark.parametrize("error", CLASSES)
def test_message_and_hint_are_filled_and_stay_apart(error: type[ServerUnusable]) -> None:
    fields = fields_of(error)
    raised = error(**fields)
    assert "{" not in str(raised)
    assert raised.message
    assert raised.hint
    assert str(raised) == f"{raised.message} {raised.hint}"
    assert raised.fields == fields
