"""What is changed of a source, and what is left alone."""

from __future__ import annotations

import pytest

from benchmarks.mutants.mutation import Mutation, mutations

SOURCE = '''\
"""A module."""
import os

LIMIT = 3


def ask(name: "str", n: int = 1) -> "str":
    """What it does."""
    found: "int" = n + 1
    for one in range(found):
        if one < 3 and name == "ä":
            continue
        os.remove(name)
    if not name:
        raise ValueError(f"no {name + 'x'}")
    return name
'''


def changes() -> set[tuple[int, str, str]]:
    return {
        (line, one.kind, one.new.strip())
        for line, found in mutations(SOURCE).items()
        for one in found
    }


def test_each_kind_of_change_keeps_what_stands_around_it() -> None:
    assert changes() == {
        (9, "arithmetic", 'found: "int" = (n - 1)'),
        (9, "constant", 'found: "int" = n + 2'),
        (11, "condition negated", "if (not (one < 3 and name == 'ä')):"),
        (11, "and/or", "if (one < 3 or name == 'ä'):"),
        (11, "comparison", 'if (one <= 3) and name == "ä":'),
        (11, "comparison", "if one < 3 and (name != 'ä'):"),
        (11, "constant", 'if one < 4 and name == "ä":'),
        (11, "constant", "if one < 3 and name == 'äx':"),
        (12, "break/continue", "break"),
        (13, "call removed", "pass"),
        (14, "condition negated", "if (not not name):"),
        (14, "not removed", "if (name):"),
        (15, "raise removed", "pass"),
        (16, "returns None", "return None"),
    }


def test_every_change_compiles_and_is_another_program() -> None:
    assert all(one.counts(SOURCE) for found in mutations(SOURCE).values() for one in found)


@pytest.mark.parametrize("new", ["    return  name", "    return (name)", "    return ("])
def test_what_changes_no_program_or_compiles_to_none_does_not_count(new: str) -> None:
    assert not Mutation(16, "any", "    return name", new).counts(SOURCE)


def test_a_change_follows_its_line_to_the_nearest_place() -> None:
    change = Mutation(4, "any", "b = 1", "b = 2")
    assert change.apply("b = 1\n\n\n\nb = 1\nc") == "b = 1\n\n\n\nb = 2\nc"
    assert change.locate("b = 11") is None
    with pytest.raises(ValueError, match="line 4 is gone: 'b = 1'"):
        change.apply("b = 11")
