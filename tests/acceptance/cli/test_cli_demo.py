"""``dcf demo`` keeps what it promises."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions

from dcf_user import ROOT, Dcf

HIDING = """import sys

for name in {modules}:
    sys.modules[name] = None  # an import fails as if it were not installed
"""


def developers_modules() -> list[str]:
    """Top-level modules that are installed for developers, and not for `make demo`."""
    lean = pinned("run.txt")
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if not {owner.lower().replace("_", "-") for owner in owners} & (lean | {"dcf-agents"})
        and module != "sitecustomize"
    )


def pinned(lock: str) -> set[str]:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z0-9,-]+\])?==", text, re.MULTILINE))


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
    """With the packages that `make demo` installs, and in interpreters that start from nothing."""
    hidden = dcf.write("sitecustomize.py", HIDING.format(modules=developers_modules())).parent
    done = subprocess.run(
        [sys.executable, "-m", "dcf.cli", "demo", *map(str, arguments())],
        cwd=dcf.folder,
        env=dcf.env | {"PYTHONPATH": str(hidden)},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 0, done.stderr
    assert "kill -9" in done.stdout
    assert "LeaseExpired" in done.stdout
    assert "once done" in done.stdout
    assert "Rehearsal" in done.stdout
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(dcf.folder / ".dcf") not in found
    assert not dcf.home.exists()
    shutil.rmtree(dcf.folder / ".dcf")
