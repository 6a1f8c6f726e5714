"""A workflow follows its text at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dcf_user import Dcf

_TEXT = "# Mend it\n\n1. Look at the fuse\n2. Change the fuse\n"
_PLAN = ("plan", "--from-sop", "mend.md", "--out", "mend.json")


@pytest.fixture
def dcf(tmp_path: Path) -> Dcf:
    return Dcf(tmp_path)


def test_a_changed_text_changes_the_workflow_and_asks_about_edits(dcf: Dcf) -> None:
    text, out = dcf.folder / "mend.md", dcf.folder / "mend.json"
    text.write_text(_TEXT)
    assert dcf(*_PLAN).code == 0
    document = json.loads(out.read_text())
    document["asl"]["States"]["ChangeTheFuse"]["TimeoutSeconds"] = 90
    out.write_text(json.dumps(document))
    edited = out.read_bytes()

    text.write_text(_TEXT.replace("2. Change the fuse", "2. Change the fuse\n3. Call a friend"))
    shown = dcf(*_PLAN, "--diff")
    assert shown.code == 0 and "step 3 is new: Call a friend" in shown.out
    assert out.read_bytes() == edited  # only shown
    assert dcf(*_PLAN).code == 0
    states = json.loads(out.read_text())["asl"]["States"]
    assert states["ChangeTheFuse"]["TimeoutSeconds"] == 90
    assert states["ChangeTheFuse"]["Next"] == "CallAFriend"

    followed = out.read_bytes()
    text.write_text(text.read_text().replace("Change the fuse", "Change the fuse twice"))
    refused = dcf(*_PLAN)
    assert refused.code == 1
    assert "nothing was written" in refused.err and "--take 2=source" in refused.err
    assert "step 2 (Change the fuse twice)" in refused.out
    assert out.read_bytes() == followed

    unknown = dcf(*_PLAN, "--take", "7=source")
    assert unknown.code == 2 and "conflicts: 2" in unknown.err
    taken = dcf(*_PLAN, "--take", "2=workflow", "--json")
    assert taken.code == 0
    assert taken.json["drift"]["conflicts"][0]["take"] == "workflow"
    states = json.loads(out.read_text())["asl"]["States"]
    assert states["ChangeTheFuseTwice"]["TimeoutSeconds"] == 90


def test_a_side_without_a_workflow_is_refused(dcf: Dcf) -> None:
    (dcf.folder / "mend.md").write_text(_TEXT)
    done = dcf(*_PLAN, "--diff")
    assert done.code == 2 and "--diff is about a workflow that is there" in done.err
    done = dcf(*_PLAN, "--take", "mine")
    assert done.code == 2
