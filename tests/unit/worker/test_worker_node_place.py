"""Where in the tree of the memory a Task works, by what the control plane says of it alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from random import Random
from typing import Any

import pytest
from unit.workflow.stage import flow, task

from control_plane import Lease
from dcf import asl
from dcf.memory import NodeStep
from dcf.worker.node_place import Join, NodePlace, place_of
from dcf.workflow import Run, Task

BORN = "1764365100123"
RUN = NodeStep("run", BORN, "run")


def lease(path: str, **fields: Any) -> Lease:
    known = {"token": "t", "fence": 1, "owner": "w1", "ttl_ms": 1, "type": "Task", "kind": "state"}
    given: dict[str, Any] = {"visit": 1, "try_": 1, "round": 0, "incarnation": f"d/{BORN}"}
    return Lease("r1", path, **{**known, **given, **fields})


def at(
    path: str, *joins: Join, policy: asl.MemoryPolicy | None = None, **fields: Any
) -> NodePlace | None:
    """The place of the Task at ``path``, which stands in ``joins``."""
    pins = fields.pop("pins", {})
    run = Run(
        workflow_id="r1",
        incarnation=f"d/{BORN}",
        name="orders",
        machine=asl.parse(flow(Look=task())),
        input=None,
        started_at=0,
        pins=pins,
        uses_context=False,
        born=BORN,
    )
    state = asl.TaskState(name="Look", type="Task", memory=policy)
    return place_of(Task(run, lease(path, **fields), state, None), joins)


def names(place: NodePlace | None) -> list[str]:
    assert place is not None
    return [one.name for one in place.steps]


def join(path: str, policy: asl.MemoryPolicy | None = None, **fields: Any) -> Join:
    given: dict[str, Any] = {"number": 2, "round": 7, "is_again": False, "is_map": True}
    return Join(path, policy=policy, **{**given, **fields})


SHARED, NONE = asl.MemoryPolicy("shared"), asl.MemoryPolicy("none")


def test_a_task_of_the_machine_itself_works_in_the_node_of_its_run() -> None:
    assert at("Look") == NodePlace("r1", (RUN,))


def test_each_iteration_and_branch_has_a_node() -> None:
    place = at(
        "Fan[2]/Both[0]/Look", join("Fan"), join("Fan[2]/Both", number=0, round=8, is_map=False)
    )
    assert place == NodePlace(
        "r1",
        (
            RUN,
            NodeStep("Fan[2]", f"{BORN}.7", "iteration"),
            NodeStep("Fan[2]/Both[0]", f"{BORN}.7.8", "branch"),
        ),
    )


def test_the_same_iteration_of_a_map_that_is_tried_again_follows_the_first() -> None:
    place = at("Fan[2]/Look", join("Fan", round=9, is_again=True))
    assert place is not None
    assert place.steps[-1] == NodeStep("Fan[2]", f"{BORN}.9", "iteration", follows=True)


@pytest.mark.parametrize(
    ("lease_says", "tries"),
    [
        ({"visit": 1, "try_": 1}, []),
        ({"visit": 1, "try_": 3, "retries": {0: 1, 1: 1}}, ["Look#2", "Look#3"]),
        # The machine came back to the state: nothing of the visit before was a failed try of this.
        ({"visit": 4, "try_": 1}, []),
        ({"visit": 4, "try_": 2, "retries": {0: 1}}, ["Look@4#2"]),
        # After a redrive the tries go on where those of the visit before it ended.
        ({"visit": 2, "try_": 2}, ["Look@2#2"]),
        ({"visit": 2, "try_": 4}, ["Look#3", "Look@2#4"]),
        ({"visit": 3, "try_": 6, "retries": {0: 1}}, ["Look@2#4", "Look@3#5", "Look@3#6"]),
    ],
)
def test_tries_from_the_second_on_have_nodes(lease_says: Any, tries: list[str]) -> None:
    assert names(at("Look", **lease_says)) == ["run", *tries]


def test_a_takeover_changes_nothing() -> None:
    first = at("Look", try_=2, retries={0: 1}, fence=5, token="a")
    assert at("Look", try_=2, retries={0: 1}, fence=9, token="b", owner="w2") == first


@pytest.mark.parametrize(
    ("policy", "joins", "expected"),
    [
        (SHARED, (), []),
        (SHARED, (join("Fan"),), ["run"]),
        (None, (join("Fan", SHARED),), ["run"]),
        (SHARED, (join("Fan", SHARED),), []),
        (None, (join("Fan", SHARED), join("Fan[2]/In")), ["run", "Fan[2]/In[2]"]),
        (None, (join("Fan"), join("Fan[2]/In", SHARED)), ["run", "Fan[2]"]),
    ],
)
def test_what_is_shared_is_the_node_around(
    policy: asl.MemoryPolicy | None, joins: tuple[Join, ...], expected: list[str]
) -> None:
    place = at("Look", *joins, policy=policy)
    assert names(place) == expected and place is not None and place.is_chosen


def test_a_try_of_a_shared_task_has_no_node() -> None:
    assert names(at("Look", policy=SHARED, try_=2, retries={0: 1})) == []


def test_no_memory_holds_for_all_that_is_inside() -> None:
    assert at("Look", policy=NONE) is None
    assert at("Fan[2]/Look", join("Fan", NONE), policy=SHARED) is None


def test_a_task_of_a_session_stands_below_its_companion() -> None:
    pins = {"session": "s1"}
    place = at("Fan[2]/Look", join("Fan"), pins=pins, owner="s1.c1", try_=2, retries={0: 1})
    assert place is not None and place.checkpoint == "s1"
    assert names(place) == [
        *("session", "companion/c1", "run/r1", "run/r1/Fan[2]", "run/r1/Fan[2]/Look#2")
    ]
    assert names(at("Look", pins=pins, owner="w1")) == ["session", "run/r1"]


@pytest.mark.parametrize("odd", ["x" * 900, "tab\tand\x85line", "half \ud83d"])
def test_any_path_gives_a_name_that_can_be_kept(odd: str) -> None:
    (name,) = {names(at(f"{odd}/Look", join(odd)))[-1] for _ in range(2)}
    assert len(name) < 500 and name.isprintable() and name.encode()
    assert names(at("Look", join(f"{odd}2")))[-1] != name


@pytest.mark.parametrize("seed", range(20))
def test_two_tasks_share_the_nodes_of_what_both_stand_in_and_no_others(seed: int) -> None:
    rng = Random(seed)
    for _ in range(50):
        ways = [_random_way(rng), _random_way(rng)]
        steps = [_steps(way) for way in ways]
        common = list(takewhile(lambda pair: pair[0] == pair[1], zip(*ways, strict=False)))
        assert steps[0] & steps[1] == {RUN} | _steps([one for one, _ in common])


def _random_way(rng: Random) -> list[tuple[str, int, int]]:
    """Maps inside of each other, each with the number of a child and the round that it is of."""
    depth = rng.randrange(4)
    return [(rng.choice("MN"), rng.randrange(2), rng.choice((7, 9))) for _ in range(depth)]


def _steps(way: Sequence[tuple[str, int, int]]) -> set[NodeStep]:
    joins: list[Join] = []
    path = ""
    for name, number, round_ in way:
        joins.append(join(f"{path}{name}", number=number, round=round_))
        path = f"{path}{name}[{number}]/"
    place = at(f"{path}Look", *joins)
    assert place is not None
    return set(place.steps)
