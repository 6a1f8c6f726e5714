"""Every procedure of ``workflows/sops``, compiled once, and one set of servers for all of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from commands import python
from planned_sops import GENERATED, ROOT, SOPS, Planned, plan_of

from dcf.planner import Market, ToolResults
from dcf.search import embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch


@pytest.fixture(scope="session")
def catalog() -> SkillCatalog:
    """The generated skills of this project."""
    return SkillCatalog.load(GENERATED)


@pytest.fixture(scope="session")
def market(catalog: SkillCatalog, tmp_path_factory: pytest.TempPathFactory) -> Market:
    """What the compiler chooses from, as a user has it who set nothing."""
    index = tmp_path_factory.mktemp("index") / "skills.db"
    finder = SkillSearch(index, embedder_named("wordllama"))
    return Market(catalog, finder, ToolResults.load(GENERATED))


@pytest.fixture(scope="session")
def planned(market: Market) -> dict[str, Planned]:
    """The plan of every procedure, by the file's name."""
    return {file.name: plan_of(file.read_text("utf-8"), file.name, market) for file in SOPS}


@pytest.fixture(scope="session")
def stub_url() -> Iterator[str]:
    """The address of the stub server, a process of its own with the generated cases."""
    config = GENERATED / "stub" / "stub_config.json"
    command = [python(), "-m", "dcf.tools.stub", "--config", str(config), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()
