"""The mocks of ``dcf asl run`` and ``dcf sim --workflow``: a file of JSON or YAML, or the JSON."""

from __future__ import annotations

from typing import Any

from dcf import asl
from dcf.asl.trial import Mocks, MocksInvalid, read_mocks
from dcf.cli.input_source import is_json
from dcf.cli.json_or_yaml import given_json_or_yaml
from dcf.cli.trouble import BadInput


def mocks_in(given: str | None, machine: asl.StateMachine) -> Mocks:
    """The mocks for ``machine`` that ``--mocks`` gives; none without it. Raises BadInput with every
    problem, each with its place."""
    return read_mocks(mocks_value(given, machine), machine)


def place_of_mocks(given: str | None) -> str:
    """The file that ``--mocks`` gives, or the option itself; "" without mocks."""
    if given is None:
        return ""
    return "--mocks" if is_json(given) else given


def mocks_value(given: str | None, machine: asl.StateMachine) -> Any:
    """What they are written as, once it was checked. Raises BadInput as ``mocks_in`` does."""
    if given is None:
        return {}
    value, place = given_json_or_yaml(given, "--mocks", "ASL_MOCK_YAML")
    try:
        read_mocks(value, machine)
    except MocksInvalid as invalid:
        raise BadInput(place(invalid.problems)) from invalid
    unclean = place([])
    if unclean:
        raise BadInput(unclean)
    return value
