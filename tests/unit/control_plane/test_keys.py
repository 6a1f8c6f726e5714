"""Paths: any state name reads back, and no two instances share one."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from control_plane import (
    BadName,
    RunKeys,
    check_workflow_id,
    enclosing_joins,
    encode_name,
    inside,
    sibling,
    split_path,
)
from control_plane.keys import Step, frame_of

NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.text("%/[]#:@{}0123456789aA\n", min_size=1, max_size=8),
    st.sampled_from(["Fan[2]/Fetch", "Fan[2]", "A@1", "%5B2%5D", "$.ctl", "a:b", "{x}", "[0]"]),
)
# An instance: a name, then (number, name) for each join above it.
INSTANCES = st.tuples(NAMES, st.lists(st.tuples(st.integers(0, 10**6), NAMES), max_size=4))


def path_of(instance: tuple[str, list[tuple[int, str]]]) -> str:
    """The path of a state, built frame by frame."""
    name, inner = instance
    path = inside("", name)
    for number, following in inner:
        path = inside(f"{path}[{number}]", following)
    return path


def steps_of(instance: tuple[str, list[tuple[int, str]]]) -> tuple[Step, ...]:
    name, inner = instance
    return (name, *(step for pair in inner for step in pair))


@given(NAMES)
def test_a_name_reads_back(name: str) -> None:
    assert split_path(encode_name(name)) == (name,)


@given(NAMES)
def test_an_encoded_name_has_no_structure(name: str) -> None:
    encoded = encode_name(name)
    assert not re.search(r"[/\[\]#:@{}\x00-\x1f\x7f]", encoded)
    assert re.fullmatch(r"(?:[^%]|%[0-9A-F]{2})+", encoded)


@given(INSTANCES)
def test_a_path_reads_back(instance: tuple[str, list[tuple[int, str]]]) -> None:
    assert split_path(path_of(instance)) == steps_of(instance)


@given(INSTANCES, st.integers(1, 99))
def test_the_visit_of_an_earlier_document_is_no_part_of_its_name(
    instance: tuple[str, list[tuple[int, str]]], visit: int
) -> None:
    assert split_path(f"{path_of(instance)}@{visit}") == steps_of(instance)


@given(INSTANCES, INSTANCES)
def test_different_instances_have_different_paths(
    one: tuple[str, list[tuple[int, str]]], other: tuple[str, list[tuple[int, str]]]
) -> None:
    assume(steps_of(one) != steps_of(other))
    keys = RunKeys("run")
    assert path_of(one) != path_of(other)
    assert keys.state(path_of(one)) != keys.state(path_of(other))


@given(INSTANCES)
def test_the_joins_above_a_state_are_its_frames(
    instance: tuple[str, list[tuple[int, str]]],
) -> None:
    path = path_of(instance)
    joins = enclosing_joins(path)
    assert [number for _, number in joins] == [number for number, _ in instance[1]]
    for (outer, number), (inner, _) in pairwise(joins):
        assert inner.startswith(f"{outer}[{number}]/")


@given(INSTANCES, NAMES)
def test_a_sibling_stands_in_the_same_frame(
    instance: tuple[str, list[tuple[int, str]]], name: str
) -> None:
    path = path_of(instance)
    following = sibling(path, name)
    assert frame_of(following) == frame_of(path)
    assert split_path(following)[-1] == name


def test_a_state_called_like_a_frame_never_meets_it() -> None:
    assert inside("", "Fan[2]/Fetch") == "Fan%5B2%5D%2FFetch"
    assert inside("Fan[2]", "Fetch") == "Fan[2]/Fetch"


@pytest.mark.parametrize("path", ["", "/A", "A/", "A//B", "A[x]", "A[", "[1]", "A[1]B"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(BadName):
        split_path(path)


@given(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_a_workflow_id_may_stand_in_a_key(workflow_id: str) -> None:
    assert check_workflow_id(workflow_id) == workflow_id


def test_all_keys_of_a_run_in_a_cluster_have_its_hash_tag() -> None:
    keys = RunKeys("r1", cluster=True)
    names = [keys.meta, keys.history, keys.chain, keys.due, keys.paths, keys.blobs, keys.audit]
    names += [keys.state("A%7Bx%7D"), keys.output("A"), keys.blob("0" * 64)]
    for name in names:
        assert re.search(r"\{(.*?)\}", name)[1] == "r1"  # type: ignore[index]
