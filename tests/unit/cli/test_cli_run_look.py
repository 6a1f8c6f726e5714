"""A run as its picture shows it."""

from __future__ import annotations

from typing import Any

from unit.workflow.stage import RUN, Calls, Stage, catch, flow, mapping, staged, task

from dcf.cli.run_look import read_run_look
from dcf.diagram import read_chart
from dcf.worker import TaskFailure


def _fails_for(*broken: Any) -> Calls:
    return Calls(lambda given: TaskFailure("Boom", "") if given in broken else given)


@staged
async def test_done_states_tell_how_long_and_which_way_was_taken(stage: Stage) -> None:
    definition = flow(
        A=task("first"),
        W={"Type": "Wait", "Seconds": 90},
        B={"Type": "Pass"},
    )
    await stage.play(definition, handlers={"first": Calls()})
    look = await read_run_look(stage.store, RUN, read_chart(definition))
    assert look.title.endswith("succeeded")
    assert {place: one.status for place, one in look.states.items()} == {
        ("A",): "done",
        ("W",): "done",
        ("B",): "done",
    }
    assert look.states["W",].detail.startswith("90")
    assert look.taken == {
        (("A",), "W", False),
        (("W",), "B", False),
        (("B",), None, False),
    }


@staged
async def test_items_of_a_map_are_counted(stage: Stage) -> None:
    inner = flow(Work=task("work"))
    definition = flow(Each=mapping(inner))
    await stage.play(definition, [1, 2, 3], handlers={"work": Calls()})
    look = await read_run_look(stage.store, RUN, read_chart(definition))
    assert look.states["Each",].status == "done"
    assert "3 of 3 done" in look.states["Each",].detail
    assert look.states["Each", 0, "Work"].detail == "3 done"


@staged
async def test_an_error_that_was_caught_shows_its_name_and_its_way(stage: Stage) -> None:
    definition = flow(A=task("first", **catch("C", "Boom")), C={"Type": "Pass"})
    await stage.play(definition, "in", handlers={"first": _fails_for("in")})
    look = await read_run_look(stage.store, RUN, read_chart(definition))
    assert "caught Boom" in look.states["A",].detail
    assert (("A",), "C", True) in look.taken


@staged
async def test_a_failed_state_says_its_error(stage: Stage) -> None:
    definition = flow(A=task("first"))
    await stage.play(definition, "in", handlers={"first": _fails_for("in")})
    look = await read_run_look(stage.store, RUN, read_chart(definition))
    assert look.states["A",].status == "failed"
    assert "Boom" in look.states["A",].detail


@staged
async def test_states_of_many_items_tell_how_many_errors_were_caught_and_the_longest(
    stage: Stage,
) -> None:
    rest = {"Type": "Wait", "Seconds": 30}
    inner = flow(Work=task("work", **catch("Rest", "Boom")), Rest=rest)
    definition = flow(Each=mapping(inner))
    await stage.play(definition, [1, 2, 3], handlers={"work": _fails_for(1, 3)})
    look = await read_run_look(stage.store, RUN, read_chart(definition))
    assert look.states["Each", 0, "Work"].detail.startswith("3 done, 2 caught")
    assert look.states["Each", 0, "Rest"].detail == "3 done, at most 30 s"
