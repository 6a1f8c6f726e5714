"""``dcf runs``: what was submitted last stands first, whether it is over or not."""

from __future__ import annotations

import pytest
from dcf_user import Dcf

PASS = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAIT = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600, "End": True}}}


@pytest.mark.parametrize(("limit", "expected"), [(20, ["new", "middle", "old"]), (1, ["new"])])
def test_a_run_that_goes_on_does_not_stand_before_newer_ones(
    dcf: Dcf, limit: int, expected: list[str]
) -> None:
    assert dcf("submit", dcf.write("wait.json", WAIT), "--id", "old").code == 0
    file = dcf.write("pass.json", PASS)
    for name in ("middle", "new"):
        assert dcf("run", file, "--id", name).code == 0

    listed = dcf("runs", "--limit", limit, "--json").json["runs"]

    assert [run["workflow_id"] for run in listed] == expected


def test_pages_of_runs_follow_each_other(dcf: Dcf) -> None:
    file = dcf.write("pass.json", PASS)
    for name in ("old", "middle", "new"):
        assert dcf("submit", file, "--id", name).code == 0

    first = dcf("runs", "--limit", 2, "--json").json
    assert [run["workflow_id"] for run in first["runs"]] == ["new", "middle"]
    second = dcf("runs", "--limit", 2, "--after", first["next_after"], "--json").json
    assert [run["workflow_id"] for run in second["runs"]] == ["old"]
    assert second["next_after"] is None

    assert "--after middle" in dcf("runs", "--limit", 2).out
    assert dcf("runs", "--status", "timed_out").out == "No run has the status timed_out.\n"
    refused = dcf("runs", "--after", "17x.old")
    assert (refused.code, "next_after" in refused.err) == (2, True)
