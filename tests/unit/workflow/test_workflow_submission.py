"""Submission: a valid document and an input become a run, once, or nothing happens at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from unit.workflow.stage import Stage, document_of, flow, mapping, parallel, passing, staged, task
from unit.workflow.test_workflow_document import CATALOG, bound

from control_plane import BadDocument, BadName, PayloadTooLarge, RunExists, RunKeys
from control_plane.documents import schema
from dcf.workflow import InvalidWorkflow, submit

DOCUMENT = document_of(flow(A=task(), B=passing()))


async def dump(stage: Stage) -> dict[str, Any]:
    return stage.twin.dump()


@staged
async def test_the_same_submission_twice_is_one_run(stage: Stage) -> None:
    assert await submit(stage.store, DOCUMENT, {"n": 1}, workflow_id="r") is True
    before = await dump(stage)
    assert await submit(stage.store, DOCUMENT, {"n": 1}, workflow_id="r") is False
    assert await dump(stage) == before


@pytest.mark.parametrize("big", [False, True])
@staged
async def test_another_input_under_the_same_id_is_refused_and_changes_no_key(
    big: bool, stage: Stage
) -> None:
    await submit(stage.store, DOCUMENT, {"n": 1}, workflow_id="r")
    before = await dump(stage)
    with pytest.raises(RunExists):
        other = {"n": 2, "text": "x" * (300_000 if big else 1)}
        await submit(stage.store, DOCUMENT, other, workflow_id="r")
    assert await dump(stage) == before


@staged
async def test_another_definition_under_the_same_id_is_refused_and_changes_no_key(
    stage: Stage,
) -> None:
    await submit(stage.store, DOCUMENT, {"n": 1}, workflow_id="r")
    before = await dump(stage)
    with pytest.raises(RunExists):
        await submit(stage.store, document_of(flow(A=task())), {"n": 1}, workflow_id="r")
    assert await dump(stage) == before


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a:b", "{a}", "ü", "a\n"])
@staged
async def test_a_bad_id_is_refused_and_writes_nothing(name: str, stage: Stage) -> None:
    with pytest.raises(BadName):
        await submit(stage.store, DOCUMENT, None, workflow_id=name)
    assert await dump(stage) == {}


@staged
async def test_input_over_16_mib_is_refused_and_writes_nothing(stage: Stage) -> None:
    with pytest.raises(PayloadTooLarge):
        await submit(stage.store, DOCUMENT, "x" * (16 * 1024 * 1024), workflow_id="r")
    assert await dump(stage) == {}


@pytest.mark.parametrize("value", [float("nan"), {"a": {1, 2}}, "\ud800"])
@staged
async def test_input_that_is_no_json_is_refused_and_writes_nothing(
    value: Any, stage: Stage
) -> None:
    with pytest.raises(BadDocument):
        await submit(stage.store, DOCUMENT, value, workflow_id="r")
    assert await dump(stage) == {}


@staged
async def test_input_that_violates_its_schema_is_refused_and_writes_nothing(stage: Stage) -> None:
    raw = {
        "workflow_name": "x",
        "workflow_input_schema": {"type": "array"},
        "asl": flow(A=passing()),
    }
    with pytest.raises(InvalidWorkflow) as invalid:
        await submit(stage.store, document_of(raw), {}, workflow_id="r")
    assert [problem.code for problem in invalid.value.problems] == ["WF_INPUT"]
    assert await dump(stage) == {}


@staged
async def test_a_submission_that_was_interrupted_goes_on_when_it_is_repeated(
    stage: Stage,
) -> None:
    states = {f"S{number}": passing() for number in range(600)}  # two calls of the seed
    document = document_of(flow(**states))
    stage.twin.fail_next("SADD", "ERR the server went away", nth=550)
    with pytest.raises(Exception, match="went away"):
        await submit(stage.store, document, None, workflow_id="r")
    assert (await stage.store.run("r")).status == "pending"
    assert await submit(stage.store, document, None, workflow_id="r") is True
    assert (await stage.store.run("r")).status == "running"


# -- what the run document says ------------------------------------------------------------------


@staged
async def test_meta_fits_its_schema_and_holds_what_the_run_is(stage: Stage) -> None:
    definition = flow(
        A=bound("search"),
        Fan=mapping(flow(T=bound("send"))),
        Both=parallel(flow(L=bound("send")), flow(R=passing())),
    )
    document = document_of(definition, catalog=CATALOG)
    await submit(stage.store, document, {"n": 1}, workflow_id="r", catalog=CATALOG)
    raw = (await stage.store.run("r")).raw
    Draft202012Validator(schema("meta")).validate(raw)
    assert raw["input"] == {"n": 1}
    assert raw["states"] == ["A", "Fan", "Both"]
    assert raw["terminal_states"] == ["Both"]
    assert raw["deps"]["Fan"] == {"upstream": ["A"], "downstream": ["Both"]}
    assert raw["skills"] == {"A": ["search"], "Fan[]/T": ["send"], "Both[0]/L": ["send"]}
    assert raw["agents"] == {"A": "any", "Fan[]/T": "any", "Both[0]/L": "any"}
    assert raw["pins"] == {
        "skill.search@1.0.0": "sha256:search",
        "skill.send@1.0.0": "sha256:send",
    }


@staged
async def test_the_definition_is_stored_as_it_was_submitted(stage: Stage) -> None:
    await submit(stage.store, DOCUMENT, None, workflow_id="r")
    run = await stage.store.run("r")
    assert await stage.store.value("r", {"$blob": run.definition}) == DOCUMENT.raw


@staged
async def test_a_large_input_is_stored_once_by_its_digest(stage: Stage) -> None:
    value = {"text": "x" * 300_000}
    await submit(stage.store, DOCUMENT, value, workflow_id="r")
    run = await stage.store.run("r")
    first = await stage.state("A", "r")
    assert list(run.input) == ["$blob", "size"]
    assert run.input == first.input
    assert await stage.store.value("r", first.input) == value


@staged
async def test_each_state_keeps_the_input_it_was_entered_with(stage: Stage) -> None:
    async def double(n: int) -> int:
        return 2 * n

    definition = flow(A=task("double"), B=passing(Parameters={"v.$": "$"}), C=passing())
    await stage.play(definition, 4, {"double": double})
    inputs = {name: (await stage.state(name)).input for name in "ABC"}
    assert inputs == {"A": 4, "B": 8, "C": {"v": 8}}


@staged
async def test_a_state_name_with_structure_in_it_cannot_meet_another_state(stage: Stage) -> None:
    names = ["Fan[0]/T", "a:b@2", "{x}#%", "\x01", "ä"]
    definition = flow(**{name: passing() for name in names})
    await stage.submit(definition)
    stage.worker()
    assert (await stage.end()).status == "succeeded"
    documents = await stage.store.states("run-1", await stage.store.paths("run-1"))
    assert len(documents) == len(names)
    assert {document.status for document in documents.values()} == {"done"}
    assert json.loads(await stage.twin.command("JSON.GET", RunKeys("run-1").state("ä")))
