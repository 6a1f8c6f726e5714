"""What a runbook became is scored by the lines of labels that a person made."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import runbooks
from benchmarks.runbook_outcome import Labels, Lines, labels_from, outcome_from
from benchmarks.runbook_scores import scores
from benchmarks.runbook_sentences import lost, sentences

LISTED: list[dict[str, Any]] = json.loads(
    Path(runbooks.__file__).with_suffix(".json").read_text(encoding="utf-8")
)
LABELS = {
    "steps": [
        {"id": "1", "line": 3, "last_line": 7, "kind": "command", "words": "Check the node"},
        {"id": "2", "line": 9, "kind": "manual", "words": "Drain it"},
        {"id": "3", "line": 9, "kind": "manual", "words": "Replace the disk"},
        {"id": "4", "line": 12, "kind": "task", "words": "Tell them", "optional": True},
    ],
    "order": [["1", "2"], ["1", "3"], ["3", "4"]],
    "branches": [{"line": 9, "to": "2"}, {"line": 10, "to": "escalate"}, {"line": 14, "to": "*"}],
    "ends": [{"line": 10, "outcome": "escalated"}],
    "inputs": [{"line": 5, "name": "NODE_NAME"}, {"line": 6, "name": "version tag"}],
    "restated": [[20, 24]],
    "commands": [{"line": 4, "last_line": 7}],
}
MADE: dict[str, Any] = {
    "validates": True,
    "steps": [
        {"number": "1", "line": 3, "how": "manual"},
        {"number": "1.1", "line": 5, "last_line": 6, "how": "executable"},
        {"number": "2", "line": 9, "how": "manual"},
        {"number": "3", "line": 9},
    ],
    "branches": [
        {"line": 9, "to": "2"},
        {"line": 10, "to": "escalate"},
        {"line": 14, "to": "end"},
    ],
    "ends": [{"line": 10, "outcome": "escalated"}, {"line": 12, "outcome": "ok"}],
    "inputs": [{"line": 1, "name": "node-name"}, {"line": 6, "name": "tag"}],
}


def score(kind: str, **changes: Any) -> tuple[int, int, list[int]]:
    """Right, wanted and invented of a kind, for MADE with changes."""
    found = scores(labels_from(LABELS), outcome_from({**MADE, **changes}))[kind]
    return found.right, found.wanted, list(found.invented)


def as_made(labels: Labels) -> dict[str, Any]:
    """The outcome of a reader that does just what the labels say."""

    def lines(one: Lines) -> dict[str, Any]:
        return {"line": one.line, "last_line": one.last}

    def to(way: str) -> str:
        return "end" if way == "*" else way

    return {
        "validates": True,
        "steps": [{"number": step.id, **lines(step)} for step in labels.steps],
        "branches": [{**lines(one), "to": to(one.to)} for one in labels.branches],
        "jumps": [{**lines(one), "to": to(one.to)} for one in labels.jumps],
        "loops": [lines(one) for one in labels.loops],
        "ends": [{**lines(one), "outcome": one.outcome} for one in labels.ends],
        "approvals": [lines(one) for one in labels.approvals],
        "inputs": [{**lines(one), "name": one.name} for one in labels.inputs],
    }


@pytest.mark.parametrize(
    "text", [text for text in LISTED if "labels" in text], ids=lambda t: t["file"]
)
def test_what_the_labels_say_is_right_in_full(text: dict[str, Any]) -> None:
    labels = labels_from(text["labels"])
    for kind, found in scores(labels, outcome_from(as_made(labels))).items():
        assert (kind, list(found.missing), list(found.invented)) == (kind, [], [])
    for kind, found in scores(labels, outcome_from({"validates": False})).items():
        assert (kind, found.right, list(found.invented)) == (kind, 0, [])


def test_steps_meet_by_lines_and_the_others_are_invented() -> None:
    # The command of step 1 is no step too many; that the optional step 4 is not there is no lack.
    assert score("steps") == (3, 3, [])
    beside = [*MADE["steps"], {"number": "4", "line": 12}, {"number": "5", "line": 22}]
    assert score("steps", steps=beside) == (3, 3, [])
    assert score("steps", steps=[*beside, {"number": "6", "line": 30}]) == (3, 3, [30])
    assert score("steps", steps=MADE["steps"][:3]) == (2, 3, [])


def test_order_is_that_of_the_steps_done() -> None:
    assert score("order") == (2, 2, [])
    assert score("order", steps=MADE["steps"][::-1]) == (0, 2, [])
    assert score("order", steps=MADE["steps"][:3]) == (1, 2, [])


def test_a_branch_is_right_where_it_leads_to_the_step_of_the_label() -> None:
    assert score("branches") == (3, 3, [])
    wrong = [{"line": 9, "to": "1"}, *MADE["branches"][1:]]
    assert score("branches", branches=wrong) == (2, 3, [9])
    # "Otherwise" of a condition that was found, and escalation as a step where it is said.
    steps = [*MADE["steps"], {"number": "5", "line": 10}]
    other = [*MADE["branches"], {"line": 9, "to": "3"}, {"line": 17, "to": "3"}]
    other[1] = {"line": 10, "to": "5"}
    assert score("branches", branches=other, steps=steps) == (3, 3, [17])
    inside = [{"line": 9, "to": "2.1"}]
    assert score("branches", branches=inside)[0] == 1


def test_an_end_is_right_with_its_outcome_and_the_last_one_needs_no_label() -> None:
    assert score("ends") == (1, 1, [])
    assert score("ends", ends=[{"line": 10, "outcome": "failed"}]) == (0, 1, [10])
    twice = [*MADE["ends"], {"line": 15, "outcome": "ok"}]
    assert score("ends", ends=twice) == (1, 1, [12])


def test_inputs_meet_by_name_and_by_a_word_of_the_line() -> None:
    assert score("inputs") == (2, 2, [])
    assert score("inputs", inputs=[{"line": 5, "name": "host"}, {"line": 7, "name": "tag"}])[0] == 1


TEXT = """---
title: Front matter
---
# 1. Title

First sentence. Second one
goes on here.

- [ ] An item <!-- unseen -->

| Step | Owner |
|---|---|
| Stop | Ops |

```sh
$ stop
```
<!--
Unseen.
-->
"""


def test_sentences_of_markdown_are_found_by_lines() -> None:
    found = [(one.line, one.last) for one in sentences(TEXT, ".md")]
    assert found == [(4, 4), (6, 6), (6, 7), (9, 9), (11, 11), (13, 13), (16, 16)]
    placed = [Lines(line=4, last_line=6), Lines(line=9), Lines(line=11, last_line=17)]
    assert [(one.line, one.last) for one in lost(TEXT, ".md", placed)] == [(6, 7)]


@pytest.mark.parametrize(
    ("suffix", "text", "lines"),
    [
        (
            ".rst",
            "Title\n=====\n\n.. code-block:: console\n   :name: a\n\n   # ps\n\n.. _b:\n",
            [1, 7],
        ),
        (".adoc", ":page: a\n= Title\n\n[source,bash]\n----\nls\n----\n\n. Stop\n", [2, 6, 9]),
        (".html", "<head><title>No</title></head>\n<li>Stop\n<b>it</b></li>\n<hr>\n", [2, 3]),
    ],
)
def test_lines_with_words_are_sentences_elsewhere(suffix: str, text: str, lines: list[int]) -> None:
    assert [one.line for one in sentences(text, suffix)] == lines


def test_the_list_has_two_halves_by_digest_of_many_origins() -> None:
    halves = [text for text in LISTED if text["half"] in ("fitted", "untouched")]
    origins = Counter(text["repository"].partition("/")[0] for text in halves)
    assert len(halves) >= 66 and len(origins) >= 18 and max(origins.values()) <= 6
    assert len({text["file"] for text in LISTED}) == len(LISTED)
    labelled = Counter(text["half"] for text in halves if "labels" in text)
    assert min(labelled.values()) >= 16
    for text in halves:
        name = f"{text['repository']}/{text['path']}"
        even = int(hashlib.sha256(name.encode()).hexdigest()[0], 16) % 2 == 0
        assert text["half"] == ("fitted" if even else "untouched"), name


def test_fresh_texts_are_labelled_and_of_owners_of_neither_half() -> None:
    fresh = [text for text in LISTED if text["half"] == "fresh"]
    owners = {text["repository"].partition("/")[0] for text in fresh}
    others = {text["repository"].partition("/")[0] for text in LISTED if text["half"] != "fresh"}
    assert fresh and all("labels" in text for text in fresh)
    assert not owners & others


def test_near_texts_are_labelled_others_of_the_repositories_of_the_untouched_half() -> None:
    near = [text for text in LISTED if text["half"] == "near"]
    untouched = [text for text in LISTED if text["half"] == "untouched"]
    assert near and all("labels" in text for text in near)
    assert {text["repository"] for text in near} <= {text["repository"] for text in untouched}
    listed = Counter((text["repository"], text["path"]) for text in LISTED)
    assert max(listed.values()) == 1


def test_labels_hold_a_few_words_and_refer_to_their_own_steps() -> None:
    for text in LISTED:
        labels = labels_from(text.get("labels", {"steps": []}))
        ids = {step.id for step in labels.steps}
        assert len(ids) == len(labels.steps), text["file"]
        assert {step for pair in labels.order for step in pair} <= ids, text["file"]
        ways = {way.to for way in [*labels.branches, *labels.jumps]}
        assert ways <= ids | {"*", "end", "escalate"}, text["file"]
        assert all(len(step.words.split()) <= 8 for step in labels.steps), text["file"]


def test_a_folder_is_scored_and_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = b"# Stop\n\n1. Stop it\n"
    about = {
        "repository": "owner/name",
        "path": "stop.md",
        "commit": "c0ffee",
        "kind": "alert",
        "sha256": hashlib.sha256(text).hexdigest(),
    }
    labels = {"steps": [{"id": "1", "line": 3, "kind": "manual", "words": "Stop it"}]}
    listed = [
        {**about, "file": "1.md", "half": "fitted", "labels": labels},
        {**about, "file": "2.md", "half": "untouched"},
    ]
    (tmp_path / "list.json").write_text(json.dumps(listed))
    monkeypatch.setattr(runbooks, "_LIST", tmp_path / "list.json")
    made = {
        "validates": True,
        "sentences": [{"line": 3, "place": "step", "step": "1"}],
        "steps": [{"number": "1", "line": 3, "how": "manual"}],
    }
    outcomes = tmp_path / "outcomes"
    for folder in (outcomes, tmp_path / "fitted", tmp_path / "untouched"):
        folder.mkdir()
    (outcomes / "1.md.json").write_text(json.dumps(made))
    (tmp_path / "fitted" / "1.md").write_bytes(text)
    (tmp_path / "untouched" / "2.md").write_bytes(b"# Go\n")

    def run(*options: str) -> int:
        arguments = ["runbooks", str(tmp_path), "--outcomes", str(outcomes), *options]
        monkeypatch.setattr(sys, "argv", arguments)
        return runbooks.main()

    assert run("--kinds", "--json", str(tmp_path / "figures.json")) == 1
    shown = capsys.readouterr().out
    assert "not as listed: fetch stop.md of https://github.com/owner/name at c0ffee" in shown
    figures = json.loads((tmp_path / "figures.json").read_text())
    fitted = {row["measure"]: (row["right"], row["of"]) for row in figures["fitted"]}
    assert fitted["validates"] == fitted["steps"] == (1, 1)
    assert fitted["sentences lost"] == (1, 2)
    assert run("--half", "fitted", "--show", "1.md") == 0
    assert json.loads(capsys.readouterr().out)["lost"] == ["line 1"]
    with pytest.raises(SystemExit):
        run("--show", "2.md")
