"""``dcf graph`` at the command line: the graph is started by who asks it, and by nobody else."""

from __future__ import annotations

import json

from dcf_user import Dcf

FLOW = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}


def test_a_run_waits_until_the_graph_is_asked_and_is_there_then(dcf: Dcf) -> None:
    file = dcf.folder / "flow.json"
    file.write_text(json.dumps(FLOW), encoding="utf-8")
    done = dcf("run", file, "--json")
    assert done.code == 0, done.err
    assert not (dcf.home / "graph").exists(), "a run has started the graph"
    explained = dcf("explain", done.json["workflow_id"])
    assert "not in the graph yet: 1 run waits in all" in explained.out

    synced = dcf("graph", "sync", "--json")
    assert (synced.code, synced.json["written"]["runs"]) == (0, 1), synced.err
    assert "graph: stopped, its data is kept" in dcf("down", "--json").json["stopped"]
