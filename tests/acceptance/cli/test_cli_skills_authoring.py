"""``dcf skills``: a new author's way, with real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from dcf_user import Dcf, until


@pytest.fixture
def author(dcf: Dcf) -> Dcf:
    """Somebody with an empty folder."""
    dcf.env["DCF_GENERATED"] = str(dcf.folder / "generated")
    return dcf


def brewed(author: Dcf) -> Path:
    """The file of a first skill."""
    done = author("skills", "new", "tea.brew", "--server", "kettle", "--tool", "boil", "--json")
    assert done.code == 0, done.err
    assert done.json["manifest_id"] == "skill.tea.brew@1.0.0"
    return author.folder / "skills_src/skills/tea/brew.skill.yaml"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_from_nothing_to_a_skill_that_can_be_shown(author: Dcf):
    skill = brewed(author)
    assert author("skills", "validate").code == 0
    edit(skill, "ref: kettle:boil", "ref: kettle:bowl")
    edit(skill, "riskLevel: low", "riskLevel: tiny")
    wrong = author("skills", "validate", "--json")
    assert wrong.code == 2
    found = {one["code"]: one for one in wrong.json["problems"]}
    assert found.keys() == {"SKILL_TOOL_UNKNOWN", "SKILL_VALUE", "SKILL_TEST_TOOL"}
    assert all(one["line"] and one["hint"] for one in found.values())
    edit(skill, "ref: kettle:bowl", "ref: kettle:boil")
    edit(skill, "riskLevel: tiny", "riskLevel: high")
    assert author("skills", "generate").code == 0
    listed = author("skills", "list", "--risk", "high", "--json").json
    assert [one["manifest_id"] for one in listed["skills"]] == ["skill.tea.brew@1.0.0"]
    assert author("skills", "list", "--tag", "coffee", "--json").json["skills"] == []
    shown = author("skills", "show", "tea.brew@^1")
    assert shown.code == 0
    for part in ("skill.tea.brew@1.0.0", "Call boil.", "kettle:boil", "text: string", "risk high"):
        assert part in shown.out
    assert author("skills", "show", "tea.bew", "--json").json["error"]["code"] == "SKILL_UNKNOWN"


def test_nothing_is_overwritten(author: Dcf):
    skill = brewed(author)
    skill.write_text("mine")
    again = author("skills", "new", "tea.brew", "--json")
    assert again.code == 2
    assert [one["code"] for one in again.json["problems"]] == ["SKILL_NEW_EXISTS"]
    assert skill.read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [["Tea"], ["tea", "--server", "kettle"], ["tea", "--tool", "boil"], ["tea", "--risk", "some"]],
)
def test_a_wrong_order_is_refused_whole(author: Dcf, arguments: list[str]):
    done = author("skills", "new", *arguments, "--json")
    assert done.code == 2
    assert done.json["problems"][0]["hint"]
    assert not (author.folder / "skills_src").exists()


def test_the_check_names_what_is_stale_and_writes_nothing(author: Dcf):
    skill = brewed(author)
    stale = author("skills", "generate", "--check", "--json")
    assert (stale.code, stale.json["status"]) == (1, "stale")
    assert "manifests/skill.tea.brew-1.0.0.json" in stale.json["written"]
    assert not (author.folder / "generated").exists()
    assert author("skills", "generate").code == 0
    assert author("skills", "generate", "--check").code == 0
    edit(skill, "tags: [tea]", "tags: [tea, hot]")
    told = author("skills", "generate", "--check")
    assert told.code == 1
    assert "manifests/skill.tea.brew-1.0.0.json" in told.err
    assert "dcf skills generate" in told.err


def tags(author: Dcf) -> Any:
    manifest = author.folder / "generated/manifests/skill.tea.brew-1.0.0.json"
    return json.loads(manifest.read_bytes())["tags"]


def test_watching_generates_within_a_second_and_keeps_the_last_good_output(author: Dcf):
    skill = brewed(author)
    watching = author.start("skills", "watch")
    assert watching.stdout is not None
    lines = iter(watching.stdout.readline, "")
    assert any("Ctrl-C" in line for line in lines)
    edit(skill, "tags: [tea]", "tags: [tea, hot]")
    saved = time.monotonic()
    until(lambda: tags(author) == ["tea", "hot"], "generated")
    assert time.monotonic() - saved < 1
    assert any("manifests/skill.tea.brew-1.0.0.json" in line for line in lines)
    edit(skill, "kind: Skill", "kind: [")
    assert any("SKILL_YAML_SYNTAX" in line for line in lines)
    assert any("last good output stays" in line for line in lines)
    assert tags(author) == ["tea", "hot"]
    edit(skill, "kind: [", "kind: Skill")
    assert any("no change" in line for line in lines)
    ended(watching)
    assert watching.returncode == 0


def ended(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGINT)
    child.wait(10)


def test_the_stub_follows_a_save(author: Dcf):
    brewed(author)
    assert author("skills", "generate").code == 0
    watching = author.start("skills", "watch")
    assert watching.stdout is not None
    assert any("Ctrl-C" in line for line in iter(watching.stdout.readline, ""))
    stub = author.start("stub", "--port", "0")
    assert stub.stdout is not None
    url = json.loads(stub.stdout.readline())["url"]
    assert health(url)["tools"] == 1
    tools = author.folder / "skills_src/tools/kettle.tools.yaml"
    edit(tools, "      boil:\n", "      whistle: { description: Whistle. }\n      boil:\n")
    saved = time.monotonic()
    until(lambda: health(url)["tools"] == 2, "the stub serves both tools")
    assert time.monotonic() - saved < 2
    ended(watching)
    ended(stub)


def health(url: str) -> Any:
    with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:
        return json.loads(answer.read())
