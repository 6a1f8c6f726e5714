"""``dcf resume``: a checkpoint's folder, copied to another home, answers and goes on as before."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dcf_user import Dcf
from home_end import end_home

WAITS = {
    "StartAt": "Wait",
    "States": {
        "Wait": {"Type": "Wait", "Seconds": 0, "Next": "Say"},
        "Say": {"Type": "Pass", "End": True},
    },
}


@pytest.fixture
def other(short_dir: Path) -> Iterator[Dcf]:
    """A user with another home and another folder."""
    folder = short_dir / "b"
    folder.mkdir()
    user = Dcf(folder)
    yield user
    end_home(user.env)


def test_a_copied_folder_goes_on_in_another_home(dcf: Dcf, other: Dcf) -> None:
    dcf.env["DCF_EMBEDDER"] = other.env["DCF_EMBEDDER"] = "none"
    dcf.env["DCF_GENERATED"] = str(dcf.folder / "generated")
    other.env["DCF_GENERATED"] = str(other.folder / "generated")
    file = dcf.write("waits.json", WAITS)
    assert dcf("submit", file, "--input", '{"name": "Ada"}', "--id", "r1").code == 0
    assert dcf("cancel", "r1").code == 0
    dcf("memory", "scope", "add", "r1/wider", "Wider layers overfit.")
    search = ("memory", "scope", "search", "r1/wider", "layers loss", "--json")
    before = dcf(*search).json["found"]

    done = dcf("runs", "export", "r1", "--out", "cp", "--checkpoint", "r1", "--json")
    assert (done.code, done.json["memory"]["entries"]) == (0, 1), done.err
    here = dcf.folder / "cp"
    assert {one.name for one in here.iterdir()} == {"r1.run.gz", "memory_backup.jsonl.gz"}

    elsewhere = other.folder / "elsewhere"
    shutil.copytree(here, elsewhere)
    resumed = other("resume", elsewhere, "--watch")
    assert resumed.code == 0, resumed.err
    assert '"name": "Ada"' in resumed.out
    found = other(*search).json["found"]
    assert [{**one, "project": None} for one in found] == [
        {**one, "project": None} for one in before
    ]
    again = other("resume", elsewhere, "--json").json
    assert (again["memory"]["is_new"], again["run"]["restored"]) == (False, False)
    assert again["run"]["run_status"] == "succeeded"


def test_a_folder_without_a_checkpoint_is_told(dcf: Dcf) -> None:
    (dcf.folder / "empty").mkdir()
    refused = dcf("resume", "empty")
    assert (refused.code, "no memory_backup.jsonl.gz" in refused.err) == (2, True)
