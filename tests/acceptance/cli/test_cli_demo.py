"""``dcf demo`` keeps what it promises."""

from __future__ import annotations

import shutil
import subprocess

from dcf_user import ROOT, Dcf


def arguments() -> list[object]:
    orders = ROOT / "workflows" / "order-processing.json"
    return ["--workflow", orders, "--input", ROOT / "workflows" / "inputs" / "order-demo.json"]


def test_a_worker_dies_and_the_order_is_shipped_once(dcf: Dcf) -> None:
    done = dcf("demo", *arguments(), "--json")

    assert done.code == 0, done.err
    said = done.json
    assert said["output"]["status"] == "shipped"
    assert (said["state"], {said["killed"], said["taken_over_by"]}) == (
        "ShipOrder",
        {"worker-A", "worker-B"},
    )
    assert all(effect["done"] == 1 for effect in said["effects"])
    booking = [e for e in said["effects"] if e["tool"] == "shipping:create_shipment"]
    assert [e["replayed"] for e in booking] == [1]
    assert said["seconds"] < 40


def test_it_tells_what_happens_and_leaves_no_process(dcf: Dcf) -> None:
    done = dcf("demo", *arguments())

    assert done.code == 0, done.err
    assert "kill -9" in done.out
    assert "LeaseExpired" in done.out
    assert "once done" in done.out
    assert "Rehearsal" in done.out
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(dcf.folder / ".dcf") not in found
    assert not dcf.home.exists()
    shutil.rmtree(dcf.folder / ".dcf")
