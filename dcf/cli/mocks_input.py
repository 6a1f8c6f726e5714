"""The mocks of ``dcf asl run`` and ``dcf sim --workflow``: a file of JSON or YAML, or the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dcf import asl
from dcf.asl.trial import MocksInvalid, read_mocks
from dcf.cli.input_source import is_json
from dcf.cli.json_or_yaml import given_json_or_yaml
from dcf.cli.trouble import BadInput
from dcf.workflow import is_only_asked


def place_of_mocks(given: str | None) -> str:
    """The file that ``--mocks`` gives, or the option itself; "" without mocks."""
    if given is None:
        return ""
    return "--mocks" if is_json(given) else given


def mocks_value(given: str | None, machine: asl.StateMachine) -> Any:
    """What they are written as, once it was checked, with the answers of persons that are
    assumed. Raises BadInput with every problem, each with its place."""
    if given is None:
        return _with_persons({}, machine)
    value, place = given_json_or_yaml(given, "--mocks", "ASL_MOCK_YAML")
    try:
        read_mocks(value, machine)
    except MocksInvalid as invalid:
        raise BadInput(place(invalid.problems)) from invalid
    unclean = place([])
    if unclean:
        raise BadInput(unclean)
    return _with_persons(value, machine)


def _with_persons(value: Any, machine: asl.StateMachine) -> Any:
    """``value`` with an answer for each Task of persons that it has none for."""
    states = value.get("states", {})
    named = {name.rpartition("/")[2] for name in states}
    assumed = {
        name: {"return": answer} for name, _, answer in _of_persons(machine) if name not in named
    }
    return {**value, "states": {**assumed, **states}} if assumed else value


def assumed_answers(mocks: Any, machine: asl.StateMachine) -> list[str]:
    """For people: what ``mocks_value`` assumed of persons."""
    states = mocks.get("states", {})
    return [
        f"{name} is {kind}: assumed is {json.dumps(answer, ensure_ascii=False)}"
        for name, kind, answer in _of_persons(machine)
        if states.get(name) == {"return": answer}
    ]


def _of_persons(machine: asl.StateMachine) -> Iterator[tuple[str, str, Any]]:
    """Every Task that a person does or that is nothing but an approval, at any depth: its name,
    what it is, and its answer: done, with the first choice; approved."""
    for name, state in machine.states.items():
        if state.manual is not None:
            yield name, "a manual task", state.manual.assumed()
        elif is_only_asked(state):
            yield name, "an approval", {"by": "operator", "reason": "assumed", "at": 0}
        for inner in (*state.branches, *filter(None, (state.processor,))):
            yield from _of_persons(inner)
