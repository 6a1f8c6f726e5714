"""What each change does to a document, as the earlier system described it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from dcf.workspace import document_edit as edits
from dcf.workspace import parse_path
from dcf.workspace.errors import (
    DestinationExists,
    IndexOutOfRange,
    IntoItself,
    NotAnArray,
    NotANumber,
    NotFinite,
    RootNotAnObject,
    RootNotSupported,
    SourceMissing,
)

START = {"a": {"b": 1, "n": None}, "l": [1, 2, 3], "t": "text", "f": 0.5}


def changed(edit: Any, *arguments: Any, start: Any = None, **options: Any) -> Any:
    """The document that ``edit`` makes of START; texts with a $ are paths."""
    read = [
        parse_path(one) if isinstance(one, str) and one.startswith("$") else one
        for one in arguments
    ]
    return edit(deepcopy(START if start is None else start), *read, [], **options)


def with_(**members: Any) -> Any:
    return {**START, **members}


def test_set_makes_missing_objects() -> None:
    assert changed(edits.set_value, "$.x.y.z", 1) == with_(x={"y": {"z": 1}})


def test_set_replaces_what_is_no_object_on_the_way_and_says_so() -> None:
    notes: list[str] = []
    done = edits.set_value(deepcopy(START), ("t", "x"), 1, notes)
    assert done == with_(t={"x": 1})
    assert notes == ["what stood at $.t was replaced by an object"]
    assert changed(edits.set_value, "$.a.n.x", 1)["a"]["n"] == {"x": 1}


def test_set_reaches_elements_and_makes_none() -> None:
    assert changed(edits.set_value, "$.l[-1]", 9) == with_(l=[1, 2, 9])
    assert changed(edits.set_value, "$.l[0].x", 9) == with_(l=[{"x": 9}, 2, 3])
    with pytest.raises(IndexOutOfRange):
        changed(edits.set_value, "$.l[3]", 9)
    with pytest.raises(NotAnArray):
        changed(edits.set_value, "$.new[0]", 9)


def test_the_root_is_an_object() -> None:
    assert changed(edits.set_value, "$", {"z": 1}) == {"z": 1}
    for value in ([], "text", 1, None):
        with pytest.raises(RootNotAnObject):
            changed(edits.set_value, "$", value)
    with pytest.raises(RootNotAnObject):
        changed(edits.merge, "$", [1])
    with pytest.raises(RootNotAnObject):
        changed(edits.copy_value, "$.l", "$")


def test_append_spreads_a_list_and_makes_the_array() -> None:
    assert changed(edits.append, "$.l", 4)["l"] == [1, 2, 3, 4]
    assert changed(edits.append, "$.l", [4, [5]])["l"] == [1, 2, 3, 4, [5]]
    assert changed(edits.append, "$.x.new", "one")["x"] == {"new": ["one"]}


@pytest.mark.parametrize("path", ["$.a", "$.t", "$.a.n", "$.f"])
def test_append_to_what_is_no_array_is_refused(path: str) -> None:
    with pytest.raises(NotAnArray):
        changed(edits.append, path, 1)


def test_append_and_increment_need_a_place() -> None:
    with pytest.raises(RootNotSupported):
        changed(edits.append, "$", 1)
    with pytest.raises(RootNotSupported):
        changed(edits.increment, "$", 1)


def test_ensure_fills_what_is_missing_or_null() -> None:
    assert changed(edits.ensure, "$.a.n", 7)["a"]["n"] == 7
    assert changed(edits.ensure, "$.a.new", 7)["a"]["new"] == 7
    assert changed(edits.ensure, "$.a.b", 7) == START
    assert changed(edits.ensure, "$", {"other": 1}) == START


# The examples of RFC 7386, appendix A, whose targets and results are objects.
@pytest.mark.parametrize(
    "target, patch, result",
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_is_rfc_7386(target: Any, patch: Any, result: Any) -> None:
    assert changed(edits.merge, "$", patch, start=target) == result
    assert changed(edits.merge, "$.in", patch, start={"in": target}) == {"in": result}


def test_increment_keeps_integers_and_starts_at_zero() -> None:
    assert repr(changed(edits.increment, "$.a.b", 2)["a"]["b"]) == "3"
    assert repr(changed(edits.increment, "$.a.b", 0.5)["a"]["b"]) == "1.5"
    assert repr(changed(edits.increment, "$.f", 1)["f"]) == "1.5"
    assert repr(changed(edits.increment, "$.new.n", -4)["new"]["n"]) == "-4"
    assert changed(edits.increment, "$.a.b", 2**63)["a"]["b"] == 2**63 + 1


@pytest.mark.parametrize("path", ["$.t", "$.l", "$.a", "$.a.n"])
def test_increment_of_what_is_no_number_is_refused(path: str) -> None:
    with pytest.raises(NotANumber):
        changed(edits.increment, path, 1)


def test_truth_is_no_number() -> None:
    with pytest.raises(NotANumber):
        changed(edits.increment, "$.x", 1, start={"x": True})


@pytest.mark.parametrize("number, delta", [(1e308, 1e308), (10**400, 0.5), (-1e308, -1e308)])
def test_a_sum_that_is_not_finite_is_refused(number: float, delta: float) -> None:
    with pytest.raises(NotFinite):
        changed(edits.increment, "$.x", delta, start={"x": number})


def test_copy_is_a_copy() -> None:
    done = changed(edits.copy_value, "$.l", "$.a.copy")
    done["l"].append(4)
    assert done["a"]["copy"] == [1, 2, 3]
    assert changed(edits.copy_value, "$", "$.all")["all"] == START


def test_copy_says_what_is_missing_or_in_the_way() -> None:
    with pytest.raises(SourceMissing):
        changed(edits.copy_value, "$.x", "$.y")
    with pytest.raises(DestinationExists):
        changed(edits.copy_value, "$.a", "$.l", overwrite=False)
    assert changed(edits.copy_value, "$.t", "$.l", overwrite=True)["l"] == "text"


def test_move_takes_it_away_from_where_it_was() -> None:
    assert changed(edits.move_value, "$.a.b", "$.x.y") == with_(a={"n": None}, x={"y": 1})
    assert changed(edits.move_value, "$.l[0]", "$.first") == with_(l=[2, 3], first=1)


def test_move_to_a_place_above_the_source_leaves_what_was_moved_alone() -> None:
    start = {"a": {"a": {"a": 1}}}
    assert changed(edits.move_value, "$.a.a", "$.a", start=start) == {"a": {"a": 1}}
    assert changed(edits.move_value, "$.a", "$", start=start) == {"a": {"a": 1}}


def test_places_of_a_move_are_those_of_the_document_as_it_was() -> None:
    assert changed(edits.move_value, "$.l[0]", "$.l[2]")["l"] == [2, 1]
    assert changed(edits.move_value, "$.l[-3]", "$.l[-1]")["l"] == [2, 1]


def test_a_move_of_nothing_is_nothing() -> None:
    assert changed(edits.move_value, "$.x", "$.a") == START


@pytest.mark.parametrize(
    "source, target",
    [("$.a", "$.a"), ("$.a", "$.a.b"), ("$", "$.x"), ("$", "$"), ("$.l[2]", "$.l[-1]")],
)
def test_nothing_is_moved_into_itself(source: str, target: str) -> None:
    with pytest.raises(IntoItself):
        changed(edits.move_value, source, target)


def test_delete_resets_the_root_and_heeds_only_what_is_there() -> None:
    assert edits.delete(deepcopy(START), ()) == {}
    assert edits.delete(deepcopy(START), parse_path("$.x.y")) == START
    assert edits.delete(deepcopy(START), parse_path("$.l[1]")) == with_(l=[1, 3])
    assert edits.delete(deepcopy(START), parse_path("$.a.n")) == with_(a={"b": 1})
