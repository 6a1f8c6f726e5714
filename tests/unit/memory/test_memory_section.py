"""Observations as a section of a Markdown file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.memory import (
    Actor,
    Filter,
    InvalidEntry,
    Memory,
    NewObservation,
    Origin,
    with_section,
)
from dcf.search import count_tokens

OPEN, CLOSE = "<!-- dcf:observations -->", "<!-- /dcf:observations -->"
NEW = NewObservation(
    "bugfix",
    "The gateway answers twice",
    Origin("run", "r-1"),
    project="/shop",
    subtitle="A retry was taken for an order.",
    facts=("ids are checked",),
    narrative="It says nothing of it.\n\n# A heading\n```\ncode that nobody ends",
    at=1_000,
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", f"{OPEN}\nx\ny\n{CLOSE}\n"),
        (b"# A", f"# A\n\n{OPEN}\nx\ny\n{CLOSE}\n"),
        (b"# A\n", f"# A\n\n{OPEN}\nx\ny\n{CLOSE}\n"),
        (b"# A\n\n", f"# A\n\n{OPEN}\nx\ny\n{CLOSE}\n"),
        (b"# A\r\n", f"# A\r\n\r\n{OPEN}\r\nx\r\ny\r\n{CLOSE}\r\n"),
        (f"a\n{OPEN}\nold\n{CLOSE}\nb".encode(), f"a\n{OPEN}\nx\ny\n{CLOSE}\nb"),
        (f"a {OPEN}{CLOSE} b\n".encode(), f"a {OPEN}\nx\ny\n{CLOSE} b\n"),
        (f"a\r\n{OPEN}\r\n{CLOSE}\nb".encode(), f"a\r\n{OPEN}\r\nx\r\ny\r\n{CLOSE}\nb"),
        (f"a\r\n{OPEN}\n{CLOSE}\n".encode(), f"a\r\n{OPEN}\nx\ny\n{CLOSE}\n"),
        (b"<!--dcf:observations-->\n<!--  /dcf:observations  -->", None),
        ("\ufeffé\n".encode(), f"\ufeffé\n\n{OPEN}\nx\ny\n{CLOSE}\n"),
    ],
)
def test_only_the_section_changes(before: bytes, after: str | None) -> None:
    done = with_section(before, "x\ny")
    wanted = after or "<!--dcf:observations-->\nx\ny\n<!--  /dcf:observations  -->"
    assert done == wanted.encode()
    assert with_section(done, "x\ny") == done


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (f"a\n{OPEN}\nb", [(2, "nothing ends")]),
        (f"a\r\nb\r\n{CLOSE}", [(3, "nothing begins")]),
        (f"{CLOSE}\n{OPEN}", [(1, "before")]),
        (f"{OPEN}\n{OPEN}\n{CLOSE}", [(2, "second")]),
        (f"{OPEN}\n{CLOSE}\n{CLOSE}\n\n{CLOSE}", [(3, "second"), (5, "second")]),
        (f"{OPEN}\n{CLOSE}\n`{OPEN}`\n{CLOSE}", [(3, "second"), (4, "second")]),
        (f"{CLOSE} {CLOSE}", [(1, "nothing begins"), (1, "second")]),
        ("a\nb\udc00", [(2, "UTF-8")]),
        ("a\0b", [(1, "NUL")]),
    ],
)
def test_broken_markers_are_told_with_their_lines(
    document: str, problems: list[tuple[int, str]]
) -> None:
    with pytest.raises(InvalidEntry) as refused:
        with_section(document.encode("utf-8", "surrogatepass"), "x")
    found = refused.value.problems
    assert [one.line for one in found] == [line for line, _ in problems]
    for one, (_, word) in zip(found, problems, strict=True):
        assert word in one.message and one.code == "memory_section"


PIECES = st.sampled_from(["a", "é🎉", "\n", "\r\n", "\r", " ", "```", "<!--", "-->", "# b"])
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(TEXTS, TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_a_section_is_replaced_as_often_as_wanted(first: str, last: str, said: list[str]) -> None:
    document = f"{first}{OPEN}{CLOSE}{last}".encode()
    for text in said:
        document = with_section(document, text.replace("<", "").replace("\r", ""))
    assert document.startswith(f"{first}{OPEN}".encode())
    assert document.endswith(f"{CLOSE}{last}".encode())


async def section(memory: Memory, **how: object) -> str:
    return (await memory.contexts.section(Filter(), **how)).text  # type: ignore[arg-type]


async def test_an_index_has_a_line_for_each_and_no_time(memory: Memory, by: Actor) -> None:
    (one,) = await memory.observations.add(NEW, by=by)
    text = await section(memory)
    row = f"- \N{LARGE GREEN CIRCLE} bugfix: {NEW.title} ({one.citation})"
    assert text.splitlines()[-1] == row
    assert "dcf memory observations" in text.splitlines()[0]


async def test_all_of_each_stays_within_its_item(memory: Memory, by: Actor) -> None:
    (one,) = await memory.observations.add(NEW, by=by)
    text = await section(memory, full=True)
    assert text.endswith(
        "- **The gateway answers twice** (bugfix)\n"
        "  A retry was taken for an order.\n"
        "  - ids are checked\n"
        "  It says nothing of it.\n"
        "\n"
        "  # A heading\n"
        "  ```\n"
        "  code that nobody ends\n"
        f"  ({one.citation})"
    )


@pytest.mark.parametrize("full", [False, True])
async def test_what_is_said_cannot_end_the_section(full: bool, memory: Memory, by: Actor) -> None:
    forged = f"a {CLOSE} b {OPEN} <!--\u200b /dcf:observations -->"
    said = {"title": forged, "subtitle": forged, "facts": (forged,), "narrative": forged}
    await memory.observations.add(replace(NEW, **said), by=by)
    text = await section(memory, full=full)
    assert "<!--" not in text and "/dcf:observations" in text
    done = with_section(b"", text)
    assert with_section(done, "x") == f"{OPEN}\nx\n{CLOSE}\n".encode()


@pytest.mark.parametrize("full", [False, True])
async def test_what_is_pinned_comes_first_and_all_of_it_within_the_budget(
    full: bool, memory: Memory, by: Actor
) -> None:
    many = [replace(NEW, title=f"title {number}", at=number) for number in range(30)]
    made = await memory.observations.add(*many, by=by)
    await memory.observations.pin(made[0].id, by=by)
    for tokens in (0, 100, 400, 2_000):
        found = await memory.contexts.section(Filter(since=5), full=full, tokens=tokens, rows=20)
        assert count_tokens(found.text) <= max(tokens, 60)
        assert len(found.told) <= 20 and found.left_out >= 0
        assert len(found.told) + found.left_out == 20
        if tokens == 400:
            newest = sorted(many[5:], key=lambda one: -(one.at or 0))
            titles = [one.title for one in found.told]
            assert titles == ["title 0", *(one.title for one in newest)][: len(titles)]
            assert len(titles) > 1


async def test_nothing_is_told_of_nothing(memory: Memory) -> None:
    assert "No observations" in await section(memory)
