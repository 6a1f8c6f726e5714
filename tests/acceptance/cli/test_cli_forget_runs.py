"""``dcf memory forget --about``: runs that are over go, others and sessions are named."""

from __future__ import annotations

import json

from dcf_user import Dcf

SAYS = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAIT = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600, "End": True}}}
NO_GRAPH = {"DCF_GRAPH": "off"}


def test_runs_that_name_it_go_and_others_stay(dcf: Dcf) -> None:
    says, wait = dcf.write("pass.json", SAYS), dcf.write("wait.json", WAIT)
    inputs = {"named": {"for": "Ann Miller"}, "plain": {"for": "Bob"}}
    for name, given in inputs.items():
        file = dcf.write(f"{name}.json", given)
        assert dcf("run", says, "--id", name, "--input", file).code == 0
    assert dcf("submit", wait, "--id", "waits").code == 0
    for name, objective in (("desk", "Help Ann Miller"), ("shop", "Help Bob")):
        assert dcf("session", "start", name, "--objective", objective).code == 0
    assert dcf("memory", "init", "ada").code == 0
    about = ["memory", "forget", "--about", "ann miller"]
    looked = dcf(*about, "--dry-run", "--json", env=NO_GRAPH).json
    assert [one["ref"] for one in looked["found"]["runs"]] == ["named"]
    done = dcf(*about, "--yes", "--json", env=NO_GRAPH)
    assert done.code == 0, done.err
    assert done.json["receipt"]["counts"] == {"runs: run": 1}
    missed = {one["where"]: one["why"] for one in done.json["receipt"]["unreached"]}
    assert missed["runs"] == "runs that are not over are not looked through"
    assert "session desk" in missed and "session shop" not in missed
    again = dcf("memory", "receipts", done.json["receipt"]["id"], "--about", "ann miller", "--json")
    assert again.code == 1
    assert [one["message"].partition(":")[0] for one in again.json["problems"]] == ["session desk"]
    left = {one["workflow_id"] for one in dcf("runs", "--json").json["runs"]}
    assert left == {"plain", "waits"}
    assert "Miller" not in json.dumps(dcf(*about, "--dry-run", "--json", env=NO_GRAPH).json)
