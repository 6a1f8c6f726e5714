"""``dcf memory observations export`` and ``import``: observations as lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import python
from memory_user import MemoryUser

from dcf.memory import Actor, Artifact, Memory, NewObservation, Origin, Source, random_id

BY = Actor("user", "ada")
DAY_MS = 86_400_000
NOW = 1_700_000_000_000
BUSY = NewObservation(
    "bugfix",
    "Pay: a retry got over Busy \N{PARTY POPPER}",
    Origin("run", "order-1", state="Pay"),
    project="/shop",
    workflow="orders",
    subtitle="Pay failed.",
    facts=("up to 6 times", "first after 1 s"),
    narrative="Two\nlines\u2028and \x9b a sign of a terminal.",
    concepts=("problem-solution",),
    artifacts=(Artifact("file", "pay.py", "modified"), Artifact("url", "https://x.test")),
    related=("dcf://observation/observation-0",),
)
LATE = NewObservation("decision", "Late", Origin("session", "s-1", 3), at=NOW)


@pytest.fixture
def kept(memory: MemoryUser) -> MemoryUser:
    """One observation that two runs showed long ago, and one that was added as it is."""

    async def fill() -> None:
        source = Source(memory.file)
        async with Memory.open(source, clock=lambda: NOW, new_id=random_id) as opened:
            for number, run in enumerate(("order-1", "order-2")):
                origin = Origin("run", run, state="Pay")
                one = replace(BUSY, origin=origin, at=NOW + number, note=f"n{number}")
                await opened.observations.observe(Origin("run", run), "1", one, by=BY)
            await opened.observations.add(LATE, by=BY)

    memory.home.mkdir()
    asyncio.run(fill())
    return memory


def lines_in(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n")
    return sorted((json.loads(line) for line in text.splitlines()), key=lambda it: it["title"])


def test_a_line_has_all_that_is_known(kept: MemoryUser) -> None:
    late, busy = lines_in(kept("observations", "export").out)
    assert busy.pop("id").startswith("observation-")
    assert busy.pop("tokens") > 10
    assert busy == {
        "dcf_observation": 1,
        "type": "bugfix",
        "title": BUSY.title,
        "subtitle": "Pay failed.",
        "facts": ["up to 6 times", "first after 1 s"],
        "narrative": BUSY.narrative,
        "concepts": ["problem-solution"],
        "artifacts": [
            {"type": "file", "path": "pay.py", "action": "modified"},
            {"type": "url", "path": "https://x.test"},
        ],
        "related": ["dcf://observation/observation-0"],
        "project": "/shop",
        "workflow": "orders",
        "origin": {"source_type": "run", "source_id": "order-1", "state": "Pay"},
        "at": NOW + 1,
        "times": 2,
        "pinned": False,
        "extracted": False,
        "seen": [
            {"source_type": "run", "source_id": "order-1", "state": "Pay", "note": "n0", "at": NOW},
            {
                "source_type": "run",
                "source_id": "order-2",
                "state": "Pay",
                "note": "n1",
                "at": NOW + 1,
            },
        ],
    }
    assert (late["seen"], late["times"]) == ([], 1)
    assert late["origin"] == {"source_type": "session", "source_id": "s-1", "turn": 3}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--type", "decision"], ["Late"]),
        (["--concept", "problem-solution"], [BUSY.title]),
        (["--source-id", "order-2"], [BUSY.title]),
        (["--turn", 3], ["Late"]),
        (["--workflow", "orders"], [BUSY.title]),
        (["--project", "/other"], []),
        (["--since", "2023-01-01"], ["Late", BUSY.title]),
        (["--days", 0], []),
        (["--until", "2020-01-01"], []),
    ],
)
def test_filters_leave_what_they_name(
    kept: MemoryUser, options: list[object], expected: list[str]
) -> None:
    found = kept("observations", "export", "--out", "-", *options)
    assert found.code == 0
    assert sorted(json.loads(line)["title"] for line in found.out.splitlines()) == expected


def test_a_file_is_whole_and_never_written_over_unasked(kept: MemoryUser) -> None:
    file = kept.folder / "new" / "o.jsonl"
    document = kept.ok("observations", "export", "--out", file)
    assert (document["observations"], document["bytes"]) == (2, file.stat().st_size)
    assert [path.name for path in file.parent.iterdir()] == ["o.jsonl"]
    whole = file.read_text()
    code, refused = kept.refused("observations", "export", "--out", file, "--type", "decision")
    assert (code, refused["problems"][0]["code"]) == (2, "CLI_OUT")
    assert "--overwrite" in refused["problems"][0]["hint"] and file.read_text() == whole
    kept.ok("observations", "export", "--out", file, "--type", "decision", "--overwrite")
    assert len(lines_in(file.read_text())) == 1


def test_a_home_without_a_memory_has_no_lines(memory: MemoryUser) -> None:
    assert memory("observations", "export").out == ""
    assert not memory.file.exists(), "who only looks makes no file"


def test_lines_and_the_document_of_json_do_not_share_stdout(kept: MemoryUser) -> None:
    done = kept("observations", "export", "--json")
    assert done.code == 2 and "--out FILE" in done.err + done.out
    assert kept.refused("observations", "export", "--type", "bug", "--out", "x")[0] == 2


def test_what_was_exported_is_imported_once(kept: MemoryUser, tmp_path: Path) -> None:
    file, secret = tmp_path / "o.jsonl", "export DB_PASSWORD=hunter22hunter"
    kept.ok("observations", "export", "--out", file)
    exported = file.read_text()
    kept.patch.setenv("DCF_HOME", str(tmp_path / "other"))
    document = kept.ok("observations", "import", file)
    assert [document[name] for name in ("new", "seen_again", "known")] == [2, 0, 0]
    assert kept("observations", "export").out == exported
    assert kept.ok("observations", "import", file)["known"] == 2
    file.write_text(json.dumps({**json.loads(exported.splitlines()[0]), "narrative": secret}))
    assert kept.ok("observations", "import", file)["new"] == 1
    assert "hunter22" not in kept("observations", "export").out


def test_every_bad_line_is_told_and_every_good_one_is_kept(kept: MemoryUser) -> None:
    first, second = kept("observations", "export").out.splitlines()
    bad = {**json.loads(first), "type": "bug", "title": "a\nb", "id": ""}
    file = kept.folder / "o.jsonl"
    lines = ["nothing", first, json.dumps(bad), json.dumps({"a": 1}), "", second, second[:50]]
    file.write_text("\n".join(lines))
    kept.patch.setenv("DCF_HOME", str(kept.folder / "other"))
    code, document = kept.refused("observations", "import", file)
    assert (code, document["new"], document["refused"]) == (2, 2, 4)
    told = [(one["line"], one["code"]) for one in document["problems"]]
    assert told == [
        (1, "memory_observation_json"),
        (3, "memory_observation_type"),
        (3, "memory_observation_title"),
        (4, "memory_observation_form"),
        (7, "memory_observation_json"),
    ]
    said = kept("observations", "import", file).err
    assert f"{file}:3" in said and "all other lines were kept" in said
    assert kept.refused("observations", "import", "nowhere")[0] == 2


@pytest.mark.parametrize(("full", "said"), [(True, "cannot be written: No space"), (False, "")])
def test_an_output_that_takes_no_more_is_no_defect(kept: MemoryUser, full: bool, said: str) -> None:
    read, write = os.pipe()
    os.close(read)  # whoever read it has enough
    outputs = {True: os.open("/dev/full", os.O_WRONLY), False: write}
    command = [python(), "-m", "dcf.cli", "memory", "observations", "export"]
    done = subprocess.run(
        command, stdout=outputs[full], stderr=subprocess.PIPE, text=True, check=False
    )
    for output in outputs.values():
        os.close(output)
    assert done.returncode == (3 if full else 1)
    assert said in done.stderr and (full or done.stderr == "")
