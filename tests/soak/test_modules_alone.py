"""Each module of the product can be the first that is imported: rooms load late, and a circle of
imports shows only to whoever comes in at the wrong end of it."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.unit.cli.forking import forks

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.soak("requirements/dev.txt", product=("control_plane", "dcf", "dcf_agents")),
]


def modules(package: str) -> Iterator[str]:
    yield package
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            yield found.name


@pytest.mark.parametrize("package", ["control_plane", "dcf", "dcf_agents"])
def test_each_module_is_imported_first_by_a_process_of_its_own(
    package: str, tmp_path: Path
) -> None:
    names = list(modules(package))
    assert len(names) >= 5
    refused = {}
    with forks() as processes:
        for name in names:
            program = (
                "import json\n"
                f"try: import {name}\n"
                "except ImportError as error: print(json.dumps(str(error)))\n"
                "else: print(json.dumps(None))"
            )
            if problem := processes.run(program, tmp_path):
                refused[name] = problem
    assert refused == {}
