"""``dcf health`` beside real processes: what runs is told from what nobody started."""

from __future__ import annotations

from dcf_user import Dcf


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
    assert statuses(dcf) == {"redis": "unhealthy", "mcp": "not running", "stub": "not running"}


def test_a_worker_with_a_name_of_its_own_is_asked_for_by_it(dcf: Dcf) -> None:
    dcf.worker("--name", "nightly", "--pool", "other")

    assert dcf("health", "worker", "--pool", "other", "--name", "nightly").code == 0
    unnamed = dcf("health", "worker", "--pool", "other")
    assert (unnamed.code, "nightly; ask for one with --name" in unnamed.err) == (1, True)
