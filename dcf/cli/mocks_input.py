"""The mocks file of ``dcf asl run`` and ``dcf sim --workflow``: JSON or YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcf import asl
from dcf.asl.trial import Mocks, MocksInvalid, read_mocks
from dcf.cli.json_or_yaml import read_json_or_yaml
from dcf.cli.trouble import BadInput


def mocks_in(file: Path | None, machine: asl.StateMachine) -> Mocks:
    """The mocks in ``file`` for ``machine``; none without a file. Raises BadInput with every
    problem, each with its place."""
    return read_mocks(mocks_value(file, machine), machine)


def mocks_value(file: Path | None, machine: asl.StateMachine) -> Any:
    """What such a file holds, once it was checked. Raises BadInput as ``mocks_in`` does."""
    if file is None:
        return {}
    value, place = read_json_or_yaml(file, "ASL_MOCK_YAML")
    try:
        read_mocks(value, machine)
    except MocksInvalid as invalid:
        raise BadInput(place(invalid.problems)) from invalid
    unclean = place([])
    if unclean:
        raise BadInput(unclean)
    return value
