"""Citations in texts: whole ones, never a piece of something else, in linear time."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.citation.any_citation import citations

from dcf.citation import Citation, find_citations


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in find_citations(text)]


@pytest.mark.parametrize(
    "text",
    [
        "see dcf://issue/7 for more",
        "dcf://issue/7",
        "It is dcf://issue/7.",
        "Really (dcf://issue/7)?!",
        "(as [dcf://issue/7]).",
        "[the issue](dcf://issue/7), and",
        "<dcf://issue/7>",
        '{"source":"dcf://issue/7"}',
        "`dcf://issue/7`",
        "'dcf://issue/7':",
        "...dcf://issue/7...",
        "\u898bdcf://issue/7\u3000\u305d",
    ],
)
def test_where_it_ends(text: str) -> None:
    assert found(text) == ["dcf://issue/7"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dcf://",
        "dcf://issue/",
        "xdcf://issue/7",
        "http://dcf//issue/7",
        "dcf://memory/für",
        "dcf://issue/7(a)",
        "dcf://thread/t/turns/3",
        "dcf://issue/" + "a" * 2037,
    ],
)
def test_what_is_none(text: str) -> None:
    assert found(text) == []


def test_one_ends_where_the_next_begins() -> None:
    assert found("dcf://issue/1,dcf://issue/2") == ["dcf://issue/1", "dcf://issue/2"]
    assert found("dcf://issue/1dcf://issue/2") == []


WORDS = st.text(st.characters(exclude_characters="d")) | st.sampled_from(["dcf:/", "(", ")", "d."])


@given(st.lists(st.tuples(WORDS, st.sampled_from(list(' \n<"`')), citations()), max_size=6), WORDS)
def test_all_are_found_in_any_prose(parts: list[tuple[str, str, Citation]], after: str) -> None:
    text, expected = "", []
    for words, gap, citation in parts:
        text += f"{words}{gap}"
        # A full stop with which an id ends is taken for the end of a sentence.
        if not str(citation).endswith("."):
            expected.append((len(text), len(text) + len(str(citation)), citation))
            text += str(citation) + " "
    assert [
        (one.start, one.end, one.citation) for one in find_citations(f"{text}{after}")
    ] == expected


@given(st.lists(st.sampled_from(["dcf://", "issue/7", "(", ")", ".", " ", "/", "%", "x"])))
def test_what_is_found_stands_there(parts: list[str]) -> None:
    text, last = "".join(parts), 0
    for one in find_citations(text):
        assert one.start >= last
        assert str(one.citation) == text[one.start : one.end]
        last = one.end


def lines_run(text: str) -> int:
    """How many lines of Python run while citations are looked for."""
    count = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        find_citations(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "piece",
    ["dcf://", "dcf://(", "dcf://issue/7", "dcf://issue/%", "dcf://issue/) ", "d", ")", ".", "'"],
)
def test_twice_the_text_takes_at_most_twice_the_steps(piece: str) -> None:
    # What is done once in a process is done before.
    lines_run(f"dcf://issue/{piece}")
    once, twice = (lines_run("dcf://issue/" + piece * size) for size in (400, 800))
    assert twice <= 2 * once + 200
