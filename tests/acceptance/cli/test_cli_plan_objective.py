"""``dcf plan "objective"``: matched, asked, shown, approved, run, kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from commands import python
from dcf_user import ROOT, Dcf
from terminal import Terminal

OBJECTIVE = "check a bill from a vendor and pay it"


def test_an_objective_is_planned_approved_by_its_digest_and_run(dcf: Dcf) -> None:
    shutil.copytree(ROOT / "workflows" / "sops", dcf.folder / "workflows" / "sops")
    env = {"DCF_GRAPH": "off"}
    refused = dcf("plan", "organise a chess tournament", "--json", env=env)
    assert refused.code == 1 and refused.json["status"] == "unmatched"
    assert refused.json["nearest"] and "DCF_MODEL_PLANNER" in refused.json["error"]["hint"]
    asked = dcf("plan", OBJECTIVE, "--json", env=env)
    assert asked.code == 2 and asked.json["status"] == "asking"
    id_ = asked.json["planning_id"]
    again = ("plan", "--resume", id_)
    shown = dcf(*again, "--answer", "invoice_id=INV-2001", "--out", "own.json", "--json", env=env)
    assert shown.code == 0 and shown.json["status"] == "shown"
    assert json.loads((dcf.folder / "own.json").read_text()) == shown.json["workflow"]
    digest = shown.json["shown"]
    assert (dcf.folder / "workflows" / "plannings" / f"{id_}.svg").is_file()
    wrong = dcf(*again, "--approve", "sha256:0", env=env)
    assert wrong.code == 1 and "not what was shown" in wrong.err
    done = dcf(*again, "--approve", digest, "--json", env=env)
    assert done.code == 0, done.err
    assert done.json["status"] == "succeeded"
    assert done.json["output"]["transfer_id"] == "TRF-PAYEE-310"
    trail = dcf.folder / Path(done.json["audit_trail_path"])
    assert json.loads((trail / "summary.json").read_text())["final_status"] == "succeeded"
    kept = dcf.folder / "workflows" / "generated" / f"wf-{id_}.json"
    assert json.loads(kept.read_text())["workflow_id"] == f"wf-{id_}"
    listed = dcf("plans", "--json").json["plannings"]
    assert (listed[0]["planning_id"], listed[0]["status"], listed[0]["run"]) == (
        id_,
        "ended",
        "succeeded",
    )


def test_what_is_planned_is_one_thing(dcf: Dcf) -> None:
    for arguments in ((), ("--resume", "abcd", "--from-sop", "x.md")):
        done = dcf("plan", *arguments)
        assert done.code == 2 and "say what to plan" in done.err
    assert dcf("plan", "--resume", "nobody").code == 2
    lost = dcf("plan", "pay a bill", "--drafts", "src")
    assert lost.code == 2 and "--from-sop alone" in lost.err


def test_bytes_that_are_no_utf_8_are_the_users_mistake(dcf: Dcf) -> None:
    half = "pay a bill \udcff"  # as Python has the byte of such an argument
    for arguments in ((half,), ("pay a bill", "--answer", f"invoice_id={half}")):
        done = dcf("plan", *arguments, "--json", env={"DCF_GRAPH": "off"})
        assert done.code == 2 and "UTF-8" in done.err
        assert done.json["error"]["code"] == "bad_input" and "Traceback" not in done.err
    assert not (dcf.folder / "workflows").exists()


def test_blanks_are_asked_for_at_a_terminal_and_need_no_answer(dcf: Dcf) -> None:
    text = "# Drain\n\n1. Drain the node `<node>`\n2. Tell `<owner>`\n"
    (dcf.folder / "drain.md").write_text(text)
    command = ("-m", "dcf.cli", "plan", "--from-sop", "drain.md", "--run")
    with Terminal((python(), *command), cwd=dcf.folder, env=dcf.env) as user:
        user.until(r"node: line 3: What stands for node \[Enter: nothing to say\]")
        user.type("n-17\r")
        user.until(r"owner: line 4: What stands for owner")
        user.type("\r")
        user.until(r"1 input is not given, and people are shown a blank instead: owner")
        user.until("Approve and run it")
        user.type("no\r")
        assert user.end() == 0
    (planning,) = dcf("plans", "--json").json["plannings"]
    shown = dcf("plan", "--resume", planning["planning_id"], "--no-run", "--json").json
    assert shown["input"] == {"node": "n-17"}
