"""The wheel alone, in an environment outside of the clone and in an empty folder."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from wheels import Install, Installed, of_the_wheel

pytestmark = of_the_wheel


class User:
    """Somebody with an empty home and an empty folder who has the wheel and nothing else."""

    def __init__(self, installed: Installed, folder: Path) -> None:
        self.installed, self.folder = installed, folder
        self.environment = installed.environment(folder / "home")
        self.work = folder / "work"
        self.work.mkdir()

    def types(self, line: str, *, code: int = 0) -> str:
        """What the command line ``line`` prints, which ends with ``code``."""
        done = subprocess.run(
            shlex.split(line),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{line}\n{done.stdout}"
        return done.stdout


def _with_uv() -> dict[str, str]:
    programs = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}


@pytest.fixture
def user(install: Install, short_dir: Path) -> Iterator[User]:
    user = User(install("[all]"), short_dir)
    yield user
    user.types("dcf down")


@pytest.fixture
def bare(install: Install, short_dir: Path) -> User:
    """One without extras."""
    return User(install(""), short_dir)


def test_nothing_of_the_clone_is_used(user: User) -> None:
    for package in ("control_plane", "dcf", "dcf_agents"):
        where = user.types(f"python -P -c 'import {package}; print({package}.__file__)'")
        assert where.startswith(str(user.installed.folder))


def test_the_command_says_what_it_is_and_can(user: User) -> None:
    assert user.types("dcf --version").startswith("dcf 0.")
    assert "Durable agent workflows" in user.types("dcf --help")
    for group in ("skills", "asl", "session", "memory", "sop", "graph"):
        assert "Commands" in user.types(f"dcf {group} --help")


def test_the_demo_needs_no_folder_of_its_own(user: User) -> None:
    told = json.loads(user.types("dcf demo --json").partition("\n{")[2].join(["{", ""]))
    assert told["output"]["status"] == "shipped"


def test_a_project_begins_runs_and_passes_its_tests(user: User) -> None:
    user.types("dcf init .")
    assert "2 of 2 tests passed" in user.types("dcf skills test")
    told = user.types("dcf run workflows/greet.json --input workflows/inputs/ada.json")
    assert "Ada gets card CARD-1" in told


def test_the_examples_of_the_documentation_run(user: User) -> None:
    user.types("dcf init --examples")
    user.types("dcf run workflows/order-processing.json --input workflows/inputs/order-normal.json")
    assert "support.refund_order" in user.types('dcf skills search "refund a customer"')
    user.types("dcf skills list")
    user.types("dcf skills generate --check")
    user.types("dcf sop check workflows/sops/goods-receipt.md")
    user.types("dcf plan --from-sop workflows/sops/goods-receipt.md --out goods.json")
    user.types("dcf asl validate workflows/delivery-watch.json")
    user.types("dcf asl graph workflows/order-processing.json --out order.png")
    assert (user.work / "order.png").read_bytes().startswith(b"\x89PNG")


def test_sessions_and_memory_work(user: User) -> None:
    user.types("dcf init --examples")
    user.types("dcf up --companions 1")
    user.types('dcf session start desk-1 --objective "Help C-2002" --companions 1')
    line = "where is the parcel? skill:support.check_delivery order_id=ORD-1004"
    assert "is done" in user.types(f"dcf session say desk-1 --wait {shlex.quote(line)}")
    user.types("dcf session finalize desk-1")
    user.types("dcf session archive desk-1")
    user.types('dcf memory init ada --description "Keeps the tea house"')
    user.types('dcf memory remember ada "prefers oolong"')
    assert "oolong" in user.types("dcf memory show ada human")
    user.types('dcf memory remember ada "Jasmine: 80 degrees" --passage')
    assert "80 degrees" in user.types('dcf memory search "how hot for jasmine"')
    user.types("dcf memory doctor")


def test_pages_that_hints_name_are_there(bare: User) -> None:
    page = bare.types(
        "python -c 'from dcf_agents.shipped import docs_page; "
        'print(docs_page("how-to/models.md"))\''
    )
    assert Path(page.strip()).read_text(encoding="utf-8").startswith("# ")


def test_the_hint_of_a_missing_extra_is_a_command_that_mends_it(bare: User) -> None:
    machine = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
    (bare.work / "m.json").write_text(json.dumps(machine))
    said = bare.types("dcf asl graph m.json --out m.png", code=3)
    command = said.partition("hint: `")[2].partition("`")[0]
    assert "dcf-agents[png] @ file:///" in command
    # As its user types it: where packages come from is a setting of the machine.
    subprocess.run(shlex.split(command), cwd=bare.work, env=_with_uv(), check=True)
    bare.types("dcf asl graph m.json --out m.png")
    # Without the embedded server it is said what to do, and not only that something is missing.
    assert "dcf-agents[embedded] @" in bare.types("dcf up", code=3)
