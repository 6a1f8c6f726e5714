"""Commands while Redis refuses: they wait and say for what, and a signal ends the waiting."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from dcf_user import Dcf
from refusing_server import refusing_server

PASS = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAITS = "Redis refuses writes: it is a read-only replica; waiting"


@pytest.mark.parametrize("kind", ["worker", "companion"])
def test_who_works_waits_at_its_start_until_it_is_served_or_told_to_end(
    dcf: Dcf, tmp_path: Path, kind: str
) -> None:
    with refusing_server(tmp_path) as server:
        dcf.env |= {"DCF_REDIS_URL": server.url, "DCF_GRAPH": "off"}
        with server.refusing["READONLY"]():
            waiting = [dcf.start(kind) for _ in range(3)]
            for child in waiting:
                assert child.stderr is not None
                assert WAITS in child.stderr.readline()
            for child, number in zip(waiting, (signal.SIGINT, signal.SIGTERM), strict=False):
                child.send_signal(number)
                assert child.wait(20) in (130, -number)
        last = waiting[-1]
        assert last.stdout is not None
        assert json.loads(last.stdout.readline())["event"] == "ready"


def test_a_command_waits_no_longer_than_it_may(dcf: Dcf, tmp_path: Path) -> None:
    with refusing_server(tmp_path) as server:
        dcf.env |= {"DCF_REDIS_URL": server.url, "DCF_GRAPH": "off", "DCF_REDIS_WAIT": "1"}
        with server.refusing["OOM"]():
            refused = dcf("submit", dcf.write("pass.json", PASS), "--id", "r")
            assert refused.code == 3
            assert "Redis refuses writes: out of memory; waiting\n" in refused.err
            assert "error: Redis refuses writes since 1 s: out of memory\n" in refused.err
            assert "Redis refuses writes" in dcf("explain", "r").err + dcf("doctor").out
        assert dcf("submit", dcf.write("pass.json", PASS), "--id", "r").code == 0


def test_what_ended_is_listed_and_removed_while_redis_has_no_memory(
    dcf: Dcf, tmp_path: Path
) -> None:
    """Who has to free memory looks for what there is, and removes it."""
    with refusing_server(tmp_path) as server:
        dcf.env |= {"DCF_REDIS_URL": server.url, "DCF_GRAPH": "off", "DCF_REDIS_WAIT": "1"}
        for run in ("a", "b"):
            assert dcf("run", dcf.write("pass.json", PASS), "--id", run).code == 0
        with server.refusing["OOM"]():
            listed = dcf("runs", "--json")
            assert (listed.code, {run["workflow_id"] for run in listed.json["runs"]}) == (
                0,
                {"a", "b"},
            )
            assert "Redis refuses writes: out of memory; runs may be missing" in listed.err
            removed = dcf("runs", "remove", "--before", "0m", "--json")
            assert removed.code == 0, removed.err
            assert {run["workflow_id"] for run in removed.json["removed"]} == {"a", "b"}
