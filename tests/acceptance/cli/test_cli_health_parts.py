"""``dcf health`` beside real processes: what runs is told from what nobody started."""

from __future__ import annotations

import json
import os
import signal

from dcf_user import Dcf, until


def statuses(dcf: Dcf) -> dict[str, str]:
    return {part["name"]: part["status"] for part in dcf("health", "--json").json["parts"]}


def test_workers_of_dcf_up_are_healthy_and_gone_after_dcf_down(dcf: Dcf) -> None:
    assert dcf("up", "--workers", 1).code == 0

    assert dcf("health", "worker").code == 0
    assert dcf("health").code == 0
    found = statuses(dcf)
    assert (found["redis"], found["workers"], found["stub"]) == ("healthy",) * 3

    assert dcf("down").code == 0
    gone = dcf("health", "worker")
    assert (gone.code, "`dcf up`" in gone.err) == (1, True)
    overview = dcf("health", "--json")
    assert (overview.code, overview.json["error"]["code"]) == (1, "unhealthy")
    assert statuses(dcf) == {
        "redis": "unhealthy",
        "workers": "unknown",
        "mcp": "not running",
        "stub": "not running",
    }


def test_a_redis_that_hangs_is_told_and_not_waited_for(dcf: Dcf) -> None:
    assert dcf("up").code == 0
    pid = json.loads((dcf.home / "redis" / "server.json").read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        explained, overview = dcf("explain", "r-1"), dcf("health", "--json")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (explained.code, "has not answered for 3 seconds" in explained.err) == (3, True)
    [redis] = [part for part in overview.json["parts"] if part["name"] == "redis"]
    assert redis["found"] == "the embedded Redis runs and does not answer"


def test_a_worker_with_a_name_of_its_own_is_asked_for_by_it(dcf: Dcf) -> None:
    dcf.worker("--name", "nightly", "--pool", "other")

    # Its first read of the queue is its first sign of life.
    until(
        lambda: dcf("health", "worker", "--pool", "other", "--name", "nightly").code == 0,
        "the worker gives a sign of life",
    )
    unnamed = dcf("health", "worker", "--pool", "other")
    assert (unnamed.code, "nightly; ask for one with --name" in unnamed.err) == (1, True)


def test_companion_hosts_of_dcf_up_are_healthy_and_gone_after_dcf_down(dcf: Dcf) -> None:
    up = dcf("up", "--companions", 1, "--json")
    assert up.code == 0, up.err
    assert "companions-1" in [service["name"] for service in up.json["services"]]
    again = dcf("up", "--companions", 1, "--json").json["services"]
    assert [one["state"] for one in again if one["name"] == "companions-1"] == ["running"]

    healthy = until(
        lambda: (said := dcf("health", "companion", "--json")).code == 0 and said.json,
        "the host gives a sign of life",
    )
    assert healthy["host"].startswith("companions-1-")
    assert statuses(dcf)["companions"] == "healthy"
    doctor = {check["name"]: check for check in dcf("doctor", "--json").json["checks"]}
    assert "1 host lives" in doctor["companion hosts"]["found"]

    down = dcf("down")
    assert f"({healthy['host']}): drained" in down.out
    assert dcf("health", "companion").code == 1
