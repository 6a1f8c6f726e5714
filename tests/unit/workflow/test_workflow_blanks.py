"""Blanks in what people are told: which inputs would have filled them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from dcf.workflow import blank_warning, load, open_blanks
from dcf.workflow.blanks import filled


def told(text: str, **more: Any) -> dict[str, Any]:
    """A state in which a person does what ``text`` says."""
    return {"Type": "Task", "Comment": text, "AgentBinding": {"manual": {}}, **more}


def document(states: dict[str, Any], properties: dict[str, Any], *required: str) -> Any:
    """One state after another, over a schema of inputs."""
    names = [*states, None]
    for name, following in pairwise(names):
        states[str(name)] |= {"Next": following} if following else {"End": True}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    raw = {
        "workflow_name": "drain",
        "workflow_input_schema": schema,
        "asl": {"QueryLanguage": "JSONata", "StartAt": names[0], "States": states},
    }
    return load(json.dumps(raw), file="drain.json")


def test_all_that_people_are_shown_and_nobody_gave_is_named_at_once() -> None:
    states = {
        "Drain": told("Drain [NODE]", Arguments={"node": "{% $node %}", "owner": "{% $owner %}"}),
        "Look": told("Look at $NODE in <your-cluster>"),
        "Tell": told("Tell {{ owner }}", Arguments={"day": "{% $day %}"}),
    }
    text = {"type": "string"}
    properties = {
        "node": text,
        "cluster": text,
        "owner": text,
        "day": {**text, "default": "today"},
        "team": text,
        "unused": text,
    }
    drain = document(states, properties, "team")

    blanks = {one.name: one.states for one in open_blanks(drain, {"team": "a"})}
    # `Drain` does not speak of the owner, and `Tell` is not given them; `team` has to be given.
    assert blanks == {"node": ("Drain", "Look"), "cluster": ("Look",)}
    warning = blank_warning(drain, {"node": None}, {"node": 5})
    assert warning is not None and (warning.code, warning.severity) == ("WF_INPUT_BLANK", "warning")
    assert "node (line 5, Drain, Look), cluster (Look)" in warning.message
    assert '{"node": "…", "cluster": "…"}' in warning.hint
    assert blank_warning(drain, {"node": "n1", "cluster": "c1"}) is None


def test_what_an_earlier_step_finds_out_is_no_blank() -> None:
    states = {
        "Find": told("Find the node", Assign={"node": "{% $states.result.node %}"}),
        "Drain": told("Drain the node", Arguments={"node": "{% $node %}"}),
    }
    assert open_blanks(document(states, {"node": {"type": "string"}}), {}) == []


def test_a_workflow_without_people_has_no_blanks() -> None:
    states = {"Pass": {"Type": "Pass", "Comment": "<node>"}}
    assert blank_warning(document(states, {"node": {"type": "string"}}), {}) is None


@pytest.mark.parametrize("written", ["<your-cluster>", "<my cluster>", "$CLUSTER", "<cluster>"])
def test_whose_it_is_does_not_matter_for_a_name(written: str) -> None:
    assert filled(f"Look at {written}.", {"cluster": "c-1"}) == "Look at c-1."
    assert filled("Look at <your-cluster>.", {"cluster": "a", "your_cluster": "b"}) == "Look at b."
