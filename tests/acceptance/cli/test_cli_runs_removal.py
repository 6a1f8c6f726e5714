"""``dcf runs remove``: what goes, what is kept and why."""

from __future__ import annotations

import pytest
import redis
from dcf_user import Dcf, until

PASS = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAIT = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600, "End": True}}}
NO_GRAPH = {"DCF_GRAPH": "off"}
NO_ANSWER = {"DCF_GRAPH_URL": "redis://127.0.0.1:1/0"}


def test_finished_runs_are_removed_by_name_and_by_age_and_others_are_kept(dcf: Dcf) -> None:
    done = dcf.write("pass.json", PASS)
    assert dcf("run", done, "--id", "first").code == 0
    assert dcf("submit", dcf.write("wait.json", WAIT), "--id", "waits").code == 0

    kept = dcf("runs", "remove", "first", env=NO_ANSWER)
    assert (kept.code, "not in the graph yet" in kept.err) == (1, True)
    assert "cannot be written to the graph first: The graph server" in kept.err

    tried = dcf("runs", "remove", "--before", "0d", "--dry-run", "--json", env=NO_GRAPH).json
    assert [run["workflow_id"] for run in tried["removed"]] == ["first"]
    assert tried["bytes"] > 1_000
    stored = dcf.keys()
    assert any("first" in key for key in stored)

    both = dcf("runs", "remove", "first", "waits", "--json", env=NO_GRAPH)
    assert (both.code, both.json["error"]["code"]) == (1, "still_running")
    assert [run["workflow_id"] for run in both.json["removed"]] == ["first"]
    stored = dcf.keys()
    assert [key for key in stored if "first" in key] == []

    assert dcf("cancel", "waits").code == 0
    young = dcf("runs", "remove", "--before", "1h", "--json", env=NO_GRAPH).json
    assert (young["removed"], young["kept"]) == ([], [])
    assert dcf("runs", "remove", "--before", "0d", "--status", "cancelled", env=NO_GRAPH).code == 0
    assert dcf("runs", "--json").json["runs"] == []
    assert dcf("history", "waits").code == 2


def test_with_the_default_settings_a_run_is_written_to_the_graph_and_removed(dcf: Dcf) -> None:
    assert dcf("run", dcf.write("pass.json", PASS), "--id", "done").code == 0
    choice = ["runs", "remove", "--before", "0d", "--status", "succeeded"]
    tried = dcf(*choice, "--dry-run", "--json").json
    assert [run["workflow_id"] for run in tried["removed"]] == ["done"]
    assert (tried["kept"], tried["to_graph_first"]) == ([], 1)
    removed = dcf(*choice, "--json").json
    assert ([run["workflow_id"] for run in removed["removed"]], removed["kept"]) == (["done"], [])
    assert dcf("graph", "run", "done").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name runs, or say which with --before"),
        (["r", "--before", "1d"], "name runs, or say which with --before"),
        (["r", "--status", "failed"], "goes with --before"),
        (["--before", "1d", "--broken"], "goes with names"),
        (["--before", "month"], "--before"),
        (["--before", "1d", "--status", "running"], "--status"),
        ([""], "'' cannot be a workflow id: 1 to 64 characters"),
        (["r", "../../etc"], "'../../etc' cannot be a workflow id: 1 to 64 characters"),
    ],
)
def test_a_choice_that_cannot_be_right_is_told(dcf: Dcf, arguments: list[str], said: str) -> None:
    refused = dcf("runs", "remove", *arguments)
    assert (refused.code, said in refused.err) == (2, True)
    # Nothing is started for it.
    assert not dcf.home.exists()


def test_a_run_whose_document_is_broken_goes_when_that_is_said(dcf: Dcf) -> None:
    done = dcf.write("pass.json", PASS)
    for name in ("whole", "bad"):
        assert dcf("run", done, "--id", name, env=NO_GRAPH).code == 0
    with redis.Redis.from_url(f"unix://{dcf.home}/redis/redis.sock") as client:
        client.execute_command("JSON.SET", "cp:wf:bad:meta", "$.states", "5")

    why, hint = "states is none of a run (cp:wf:bad:meta)", "bad --broken`"
    for told in (dcf("explain", "bad"), dcf("runs", "remove", "whole", "bad", env=NO_GRAPH)):
        assert (told.code, why in told.err, hint in told.err) == (1, True, True)
    by_age = dcf("runs", "remove", "--before", "0d", "--dry-run", "--json", env=NO_GRAPH)
    assert [run["workflow_id"] for run in by_age.json["removed"]] == ["whole"]

    broken = ["runs", "remove", "bad", "whole", "--broken"]
    tried = dcf(*broken, "--dry-run", env=NO_GRAPH)
    assert (tried.code, "2 runs would go" in tried.out) == (0, True)
    assert "bad  broken: states is none of a run" in tried.out
    sizes = dcf(*broken, "--dry-run", "--json", env=NO_GRAPH).json["removed"]
    assert all(run["bytes"] > 1_000 for run in sizes)
    stored = dcf.keys()
    assert any("bad" in key for key in stored)

    gone = dcf(*broken, "--json", env=NO_GRAPH)
    assert (gone.code, gone.json["kept"]) == (0, [])
    assert gone.json["removed"] == [
        {"workflow_id": "bad", "run_status": None, "broken": why},
        {"workflow_id": "whole", "run_status": "succeeded"},
    ]
    stored = dcf.keys()
    assert [key for key in stored if "bad" in key or "whole" in key] == []
    assert dcf(*broken, env=NO_GRAPH).code == 2


def test_one_that_cannot_be_removed_keeps_no_other_from_going(dcf: Dcf) -> None:
    done = dcf.write("pass.json", PASS)
    for name in ("one", "two", "three"):
        assert dcf("run", done, "--id", name, env=NO_GRAPH).code == 0
    with redis.Redis.from_url(f"unix://{dcf.home}/redis/redis.sock") as client:
        client.delete("cp:wf:two:paths")
        client.set("cp:wf:two:paths", "x")

    why = "cp:wf:two:paths holds a string, and should hold a set"
    for choice in (["--before", "0d"], ["one", "two", "three"]):
        tried = dcf("runs", "remove", *choice, "--dry-run", "--json", env=NO_GRAPH)
        assert (tried.code, len(tried.json["removed"])) == (1, 2)
    removed = dcf("runs", "remove", "--before", "0d", "--json", env=NO_GRAPH)
    assert removed.code == 1
    assert {run["workflow_id"] for run in removed.json["removed"]} == {"one", "three"}
    [refused] = removed.json["refused"]
    assert (refused["workflow_id"], refused["code"]) == ("two", "damaged_run")
    assert why in refused["why"]
    assert refused["hint"].startswith("`dcf runs remove two --broken`")
    told = dcf("runs", "remove", "--before", "0d", env=NO_GRAPH)
    assert (told.code, "0 runs removed." in told.out) == (1, True)
    assert "error: 1 run cannot be removed" in told.err
    assert why in told.err

    gone = dcf("runs", "remove", "two", "--broken", env=NO_GRAPH)
    assert (gone.code, f"two was broken: {why}" in gone.out) == (0, True)
    assert dcf("runs", "remove", "--before", "0d", env=NO_GRAPH).code == 0


def test_an_exported_run_is_read_from_its_file_and_restored(dcf: Dcf) -> None:
    assert dcf("run", dcf.write("pass.json", PASS), "--id", "kept").code == 0
    assert dcf("runs", "export", "kept", "--out", "kept.run.gz").code == 0
    again = dcf("runs", "export", "kept", "--out", "kept.run.gz")
    assert (again.code, "there is a file" in again.err) == (2, True)
    several = dcf("runs", "export", "kept", "other", "--out", "kept.run.gz")
    assert (several.code, "choose a folder for several runs" in several.err) == (2, True)
    assert (dcf.folder / "kept.run.gz").stat().st_mode & 0o777 == 0o600
    told = dcf("history", "kept", "--json").json
    exists = dcf("runs", "restore", "kept.run.gz")
    assert (exists.code, "There is a run kept already" in exists.err) == (1, True)
    assert "`dcf runs remove kept` would make room" in exists.err
    with redis.Redis.from_url(f"unix://{dcf.home}/redis/redis.sock") as client:
        chain = client.dump("cp:wf:kept:chain")
        client.delete("cp:wf:kept:chain")
        assert "`dcf runs remove kept --broken`" in dcf("runs", "restore", "kept.run.gz").err
        client.restore("cp:wf:kept:chain", 0, chain)
    nowhere = dcf("runs", "export", "kept", "--out", "")
    assert (nowhere.code, "--out: name a file or a folder" in nowhere.err) == (2, True)
    many = dcf("runs", "export", "kept", "--out", "several")
    assert (many.code, (dcf.folder / "several").is_file()) == (0, True)

    assert dcf("runs", "remove", "kept", env=NO_GRAPH).code == 0
    assert dcf("history", "kept.run.gz", "--json").json == told
    assert "the run is over: succeeded" in dcf("explain", "./kept.run.gz").out
    reflected = dcf("reflect", "kept.run.gz", env=NO_GRAPH)
    assert (reflected.code, "Run kept" in reflected.out) == (0, True)
    assert dcf("runs", "restore", "kept.run.gz").code == 0
    assert dcf("history", "kept", "--json").json == told

    (dcf.folder / "bad.run.gz").write_bytes((dcf.folder / "kept.run.gz").read_bytes()[:-9])
    for command in (["history"], ["explain"], ["reflect"], ["runs", "restore"]):
        refused = dcf(*command, "bad.run.gz")
        assert (refused.code, "bad.run.gz: the file: it is damaged" in refused.err) == (2, True)
    assert dcf("history", "none.run.gz").code == dcf("reflect", "none.run.gz").code == 2


def test_a_worker_removes_what_is_kept_no_longer(dcf: Dcf) -> None:
    assert dcf("run", dcf.write("pass.json", PASS), "--id", "old").code == 0
    checks = {one["name"]: one["found"] for one in dcf("doctor", "--json").json["checks"]}
    assert checks["runs"].startswith("1 run, about ")
    assert "; 1 of the last 24 hours, " in checks["runs"]
    dcf.env |= {"DCF_RETENTION": "failed=0m,succeeded=0m"}
    dcf.worker()
    until(lambda: dcf("history", "old").code == 2, "the run is gone")
