"""Skills given away and taken in, versions compared, schemas of real servers locked."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dcf_user import ROOT, Dcf

PUMP: dict[str, Any] = {
    "name": "run_pump",
    "description": "Run the pump.",
    "inputSchema": {
        "type": "object",
        "properties": {"bed": {"type": "string"}, "minutes": {"type": "integer"}},
        "required": ["bed", "minutes"],
    },
}
TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  pump:
    tools:
      run_pump:
        description: Run the pump of a bed for some minutes.
        params:
          type: object
          properties: { bed: { type: string }, minutes: { type: integer } }
          required: [bed, minutes]
"""
SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata:
  manifestId: skill.garden.water@1.0.0
  name: garden.water
  version: 1.0.0
  description: Water a bed.
spec:
  permissions: { egress: intranet, riskLevel: low, files: [src, docs/a.md] }
  directives: Run the pump once.
  tools: [{ ref: "pump:run_pump" }]
"""
REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
servers:
  pump: { endpoint: "http://127.0.0.1:%d", path: /mcp, timeout: 20 }
  %s
"""
FLOW = {
    "StartAt": "Water",
    "States": {
        "Water": {
            "Type": "Task",
            "AgentBinding": {
                "agent_template_ref": {"name": "gardener"},
                "skills": ["garden.water@1.0.0"],
                "tool_name": "run_pump",
            },
            "End": True,
        }
    },
}


class Gardener(Dcf):
    """A user with a tree of their own, and a real server beside the stub."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.env["DCF_GENERATED"] = str(folder / "generated")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.listed = folder / "listed.json"
        self.say(PUMP)
        self.write("skills_src/tools.yaml", TOOLS)
        self.write("skills_src/skills/water.skill.yaml", SKILL)
        self.registry("")
        self.write("water.json", json.dumps(FLOW))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def registry(self, more: str) -> None:
        self.write("skills_src/registry.yaml", REGISTRY % (self.port, more))

    def say(self, *tools: dict[str, Any]) -> None:
        """What the server lists from now on."""
        self.listed.write_text(json.dumps(tools))

    def pump(self) -> subprocess.Popen[str]:
        """Start the server; it answers when this returns."""
        script = Path(__file__).with_name("changing_server.py")
        command = [sys.executable, str(script), str(self.port), str(self.listed)]
        child = subprocess.Popen(command, text=True)
        self.children.append(child)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return child
            time.sleep(0.1)
        raise AssertionError("the server did not start")

    @property
    def locked(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(
            (self.folder / "skills_src/tools.lock.json").read_text()
        )
        return document["tools"]

    def water(self, run: str) -> tuple[int, list[dict[str, Any]]]:
        """Run the workflow: its exit code, and the decisions in its history."""
        task = {"bed": "roses", "minutes": 5}
        done = self("run", "water.json", "--id", run, "--input", json.dumps(task), "--json")
        events = self("history", run, "--json").json["events"]
        return done.code, [event for event in events if event["type"] == "ToolDecision"]


@pytest.fixture
def user(short_dir: Path) -> Iterator[Gardener]:
    gardener = Gardener(short_dir)
    yield gardener
    gardener("down")
    for child in gardener.children:
        child.kill()
        child.wait()


@pytest.mark.timeout(180)
def test_a_tool_whose_server_changed_since_the_lock_is_refused_with_the_difference(
    user: Gardener,
) -> None:
    user.pump()
    done = user("skills", "lock", "--json")
    assert done.code == 0, done.err
    assert done.json["answered"] == ["pump"]
    assert [change["status"] for change in done.json["changes"]] == ["added"]
    assert user("skills", "lock", "--check").code == 0
    assert user("skills", "generate").code == 0
    lock = json.loads((user.folder / "generated/skills.lock").read_text())
    assert lock["tools"]["pump:run_pump"]["origin"] == "server"

    code, decisions = user.water("before")
    assert code == 0
    assert [one["verdict"] for one in decisions] == ["allow"]

    schema = PUMP["inputSchema"]
    depth = {**schema["properties"], "depth": {"type": "number"}}
    new = {"properties": depth, "required": ["bed", "minutes", "depth"]}
    user.say({**PUMP, "inputSchema": {**schema, **new}})
    code, decisions = user.water("after")
    assert code == 1
    assert [(one["verdict"], one["rule"]) for one in decisions] == [("deny", "schema.changed")]
    assert "depth" in json.dumps(decisions)

    before = (user.folder / "skills_src/tools.lock.json").read_bytes()
    checked = user("skills", "lock", "--check", "--json")
    assert checked.code == 1 and checked.json["status"] == "stale"
    [change] = checked.json["changes"]
    found = {(one["code"], one["place"], one["bump"]) for one in change["changes"]}
    assert found == {("required", "arguments.depth", "major")}
    assert (user.folder / "skills_src/tools.lock.json").read_bytes() == before


def test_what_was_locked_of_a_server_that_does_not_answer_stays(user: Gardener) -> None:
    pump = user.pump()
    assert user("skills", "lock").code == 0
    before = user.locked
    pump.kill()
    pump.wait()
    done = user("skills", "lock", "--json")
    assert done.code == 3
    assert list(done.json["silent"]) == ["pump"]
    assert user.locked == before != {}


def test_servers_on_the_stub_are_only_asked_by_name(user: Gardener) -> None:
    user.write("skills_src/registry.yaml", REGISTRY % (user.port, ""))
    env = {"DCF_STUB_URL": f"http://127.0.0.1:{user.port}"}
    done = user("skills", "lock", "--json", env=env)
    assert done.code == 0 and done.json["asked"] == [] and not done.json["written"]
    told = user("skills", "lock", env=env).out
    assert "nothing to lock" in told and "up to date" not in told
    done = user("skills", "lock", "--server", "nobody", "--server", "pomp", "--json", env=env)
    assert done.code == 2 and len(done.json["problems"]) == 2
    user.pump()
    done = user("skills", "lock", "--server", "pump", "--json", env=env)
    assert done.code == 0 and done.json["answered"] == ["pump"]


def test_a_skill_goes_out_and_comes_in_with_the_same_digest(user: Gardener) -> None:
    env = {"DCF_GENERATED": str(ROOT / "generated")}
    src = ("--src", str(ROOT / "skills_src"))
    out = user("skills", "export", "--all", "--out", "out", *src, "--json", env=env)
    assert out.code == 0, out.err
    again = user("skills", "export", "support.refund_order", "--out", "out", *src, env=env)
    assert again.code == 2 and "AGENT_SKILL_EXISTS" in again.err
    exported = {skill["manifest_id"]: skill for skill in out.json["skills"]}
    chosen = ("support.know_customer", "support.refund_order")
    for name in chosen:
        folder = exported[f"skill.{name}@1.0.0"]["folder"]
        done = user("skills", "import", folder, "--src", "taken", "--json")
        assert done.code == 0 and done.json["ours"], done.err
    assert user("skills", "generate", "--src", "taken", "--generated", "made").code == 0
    for name in chosen:
        shown = user("skills", "show", name, "--generated", "made", "--json").json
        assert shown["digest"] == exported[f"skill.{name}@1.0.0"]["digest"]
        same = user("skills", "diff", str(ROOT / "skills_src"), "taken", "--json")
        assert same.code == 0 and same.json["compared"] == []
    # The cases came along: the tests pass there, and every case is the one it was.
    tested = user("skills", "test", *chosen, "--generated", "made", "--json")
    assert tested.code == 0, tested.err
    here = user("skills", "test", *chosen, "--generated", ROOT / "generated", "--json")
    assert tested.json["cases"] == here.json["cases"] and tested.json["cases"]["total"] > 0


def test_cases_that_cannot_travel_are_told_at_both_ends(user: Gardener) -> None:
    env = {"DCF_GENERATED": str(ROOT / "generated")}
    out = user("skills", "export", "orders.price_order", "--src", "nowhere", "--json", env=env)
    assert out.code == 0
    [warning] = out.json["problems"]
    assert warning["code"] == "AGENT_SKILL_CASES" and "pricing:apply_discount" in warning["message"]
    done = user("skills", "import", "agent-skills/orders-price-order", "--src", "taken", "--json")
    assert done.code == 0
    assert "AGENT_SKILL_CASES" in {problem["code"] for problem in done.json["problems"]}


def test_diff_says_what_changed_and_check_asks_for_the_version(user: Gardener) -> None:
    assert user("skills", "generate").code == 0
    assert user("skills", "generate", "--generated", "old").code == 0
    user.write("skills_src/skills/water.skill.yaml", SKILL.replace("intranet", "internet"))
    assert user("skills", "generate").code == 0
    said = user("skills", "diff", "old", "generated")
    assert said.code == 0 and "permissions.egress: internet now, was intranet" in said.out
    low = user("skills", "diff", "old", "generated", "--check", "--json")
    assert low.code == 1 and low.json["status"] == "version_too_low"
    assert low.json["compared"][0]["next_version"] == "2.0.0"
    user.write(
        "skills_src/skills/water.skill.yaml",
        SKILL.replace("intranet", "internet").replace("1.0.0", "2.0.0"),
    )
    assert user("skills", "diff", "old", "skills_src", "--check").code == 0
    assert user("skills", "diff", "old", "garden.water").code == 2
    assert user("skills", "diff", "garden.water", "no.such").code == 2


def test_all_problems_of_an_import_are_told(user: Gardener) -> None:
    user.write("Bad/SKILL.md", "---\nname: Bad\nmetadata: 7\n---\nx\n")
    done = user("skills", "import", "Bad", "--json")
    assert done.code == 2
    codes = {(problem["code"], problem["line"]) for problem in done.json["problems"]}
    assert codes == {
        ("AGENT_SKILL_MISSING", 2),
        ("AGENT_SKILL_NAME", 2),
        ("AGENT_SKILL_TYPE", 3),
    }
