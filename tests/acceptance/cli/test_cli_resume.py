"""``dcf resume``: a checkpoint's folder, copied to another home, answers and goes on as before."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dcf_user import ROOT, Dcf, until
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

    # Said again, the folder is refreshed, and what else is in it stays.
    note = here / "note.txt"
    note.write_text("mine")
    dcf("memory", "scope", "add", "r1/wider", "Deeper ones do not.")
    run = (here / "r1.run.gz").stat().st_ino
    done = dcf("runs", "export", "r1", "--out", "cp", "--checkpoint", "r1", "--json")
    assert (done.code, done.json["memory"]["entries"]) == (0, 2), done.err
    assert (here / "r1.run.gz").stat().st_ino != run and note.read_text() == "mine"
    before = dcf(*search).json["found"]

    elsewhere = other.folder / "elsewhere"
    shutil.copytree(here, elsewhere)
    # Of a folder with a file that is cut nothing is restored.
    whole = (elsewhere / "r1.run.gz").read_bytes()
    (elsewhere / "r1.run.gz").write_bytes(whole[:-20])
    assert other("resume", elsewhere).code == 2
    assert not (other.home / "memory.db").exists()
    (elsewhere / "r1.run.gz").write_bytes(whole)
    # Nor where another run has the id.
    assert other("submit", dcf.folder / file, "--input", "{}", "--id", "r1").code == 0
    refused = other("resume", elsewhere)
    assert (refused.code, "another run r1" in refused.err) == (1, True)
    assert not (other.home / "memory.db").exists()
    assert other("cancel", "r1").code == other("runs", "remove", "r1").code == 0
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
    # The memory of another project goes there and comes from there.
    named, lab = ("--project", "lab"), str(other.folder / "lab")
    assert other("resume", elsewhere, *named, "--json").json["memory"]["project"] == lab
    taken = ("runs", "export", "r1", "--out", "cp", "--checkpoint", "r1", "--json")
    assert other(*taken, *named).json["memory"]["project"] == lab
    assert other("runs", "export", "r1", "--out", "r1.gz", *named).code == 2


def scored(user: Dcf) -> int:
    """How many nodes of the user's memory have a score."""
    query = "SELECT count(*) FROM nodes WHERE score IS NOT NULL"
    with closing(sqlite3.connect(f"file:{user.home}/memory.db?mode=ro", uri=True)) as memory:
        return int(memory.execute(query).fetchone()[0])


def test_a_search_that_was_killed_ends_elsewhere_as_it_would_have_here(
    dcf: Dcf, other: Dcf
) -> None:
    dcf.env["DCF_EMBEDDER"] = other.env["DCF_EMBEDDER"] = "none"
    assert dcf("up").code == 0
    assert dcf("memory", "init").code == 0
    given = ROOT / "workflows/inputs/search-glue.json"
    started = dcf("submit", ROOT / "workflows/tree-search.json", "--input", given, "--id", "glue")
    assert started.code == 0, started.err
    worker = dcf.worker("--concurrency", "1")
    until(lambda: scored(dcf) >= 3, "three nodes have scores")
    worker.kill()
    worker.wait()
    assert scored(dcf) < 11

    assert dcf("cancel", "glue").code == 0
    assert dcf("runs", "export", "glue", "--out", "cp", "--checkpoint", "glue").code == 0
    elsewhere = other.folder / "elsewhere"
    shutil.copytree(dcf.folder / "cp", elsewhere)
    resumed = other("resume", elsewhere, "--watch")

    assert resumed.code == 0, resumed.err
    assert "casein-lime-resin holds 11.2 MPa, the most of 11 recipes" in resumed.out
    nodes = other("memory", "scope", "tree", "glue", "--json").json["nodes"]
    # A state that was redriven has a node of its own in that of its branch.
    scores = {
        re.sub(r"/Test[A-Za-z]+@.*", "", one["name"]): one["score"] for one in nodes if one["score"]
    }
    # What the tools of the example say of each recipe.
    assert scores == {
        "Ideas[0]": 6.1,
        "Ideas[0]/Variants[0]": 6.8,
        "Ideas[0]/Variants[0]/Refinements[0]": 7.1,
        "Ideas[0]/Variants[0]/Refinements[1]": 1.0,
        "Ideas[0]/Variants[1]": 5.2,
        "Ideas[1]": 7.4,
        "Ideas[1]/Variants[0]": 9.3,
        "Ideas[1]/Variants[0]/Refinements[0]": 11.2,
        "Ideas[1]/Variants[0]/Refinements[1]": 8.8,
        "Ideas[1]/Variants[1]": 7.0,
        "Ideas[2]": 2.2,
    }
    found = other("memory", "scope", "search", "glue/Ideas[0]", "glue starch lime", "--json").json
    assert {one["node"] for one in found["found"]} == {"glue/Ideas[0]"}


def test_a_folder_without_a_checkpoint_is_told(dcf: Dcf) -> None:
    (dcf.folder / "empty").mkdir()
    refused = dcf("resume", "empty")
    assert (refused.code, "no memory_backup.jsonl.gz" in refused.err) == (2, True)
