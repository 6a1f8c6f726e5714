"""An edit is the one stretch in which two texts differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dcf.memory.audit.edit import edit_between

TEXT = st.text("abä😀\n", max_size=30)


@given(TEXT, TEXT)
def test_an_edit_undone_gives_the_text_before(before: str, after: str) -> None:
    assert edit_between(before, after).undone(after) == before


@given(TEXT, TEXT, TEXT, TEXT)
def test_an_edit_keeps_no_more_than_what_was_replaced(
    head: str, tail: str, old: str, new: str
) -> None:
    edit = edit_between(head + old + tail, head + new + tail)
    assert len(edit.removed) <= len(old)
    assert len(edit.added) <= len(new)


def test_an_edit_of_a_long_text_is_found_quickly_and_is_small() -> None:
    text = "x" * 20_000_000
    edit = edit_between(text, text[:9_000_000] + "y" + text[9_000_000:])
    assert (edit.at, edit.removed, edit.added) == (9_000_000, "", "y")
