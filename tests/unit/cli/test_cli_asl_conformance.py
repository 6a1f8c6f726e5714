"""``dcf asl conformance``: scores, failing cases, exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcf.cli import main
from dcf_agents.installation import extra_command

Run = Callable[..., tuple[int, str, str]]

ECHO = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}


def case(name: str, output: Any, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "op": "execute",
        "definition": ECHO,
        "input": 1,
        "expected": {"status": "SUCCEEDED", "output": output},
        **more,
    }


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def run_it(cases: list[Any], *arguments: object) -> tuple[int, str, str]:
        corpus = tmp_path / "corpus.jsonl"
        corpus.write_text("".join(f"{json.dumps(one)}\n" for one in cases))
        out = ("--out", str(tmp_path / "results.jsonl"))
        with pytest.raises(SystemExit) as end:
            main(["asl", "conformance", str(corpus), *out, *map(str, arguments)])
        told = capsys.readouterr()
        return int(str(end.value.code)), told.out, told.err

    return run_it


def test_scores_are_shown_by_op_and_tag_and_failing_cases_with_want_and_got(
    run: Run, tmp_path: Path
) -> None:
    code, out, _ = run([case("good", 1, tags=["pass"]), case("bad", 2, tags=["pass"])])

    assert code == 0
    for part in ("execute", "pass", "50.0%", "100.0%", "failing at level value: 1", "bad"):
        assert part in out
    assert 'want {"status": "SUCCEEDED", "output": 2}' in out
    assert 'got  {"status": "SUCCEEDED", "output": 1}' in out
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["good", "bad"]


def test_a_required_level_that_is_missed_exits_with_1(run: Run) -> None:
    cases = [case("good", 1), case("bad", 2)]
    assert run(cases, "--require", "status")[0] == 0

    code, out, err = run(cases, "--require", "value", "--json")

    assert code == 1
    assert "1 case fails at the required level value" in err
    told = json.loads(out)
    assert [one["name"] for one in told["failing"]] == ["bad"]
    assert told["ops"]["execute"] == {
        "cases": 2,
        "status": 2,
        "value": 1,
        "exact": 1,
        "details": 2,
    }


def test_ops_and_tags_choose_cases(run: Run) -> None:
    cases = [case("a", 1, tags=["x"]), case("b", 1), case("c", 1, op="validate")]

    _, out, _ = run(cases, "--op", "execute", "--tag", "x", "--json")
    assert json.loads(out)["cases"] == 1

    code, _, err = run(cases, "--tag", "y")
    assert code == 2
    assert "tags there are: x" in err


def test_results_of_another_engine_are_compared(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"name": "a", "status": "SUCCEEDED", "output": 3}) + "\n")

    code, out, err = run([case("a", 1), case("b", 1)], "--against", other)

    assert code == 1
    assert "a: output" in out
    assert "there 3" in out
    assert "1 case differs" in err
    assert run([case("b", 1)], "--against", other)[0] == 0


def test_the_counts_are_kept_without_any_case(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "report.json"
    for engine in ("pure", "twin"):
        run([case("secret name", 1, tags=["pass"])], "--report", kept, "--engine", engine)
    told = json.loads(kept.read_text())
    assert told.keys() == {"pure", "twin"}
    assert told["pure"]["tags"]["pass"]["exact"] == 1
    assert {"date", "command", "ops"} <= told["twin"].keys()
    assert "secret name" not in kept.read_text()


def test_a_bad_corpus_is_bad_input_with_lines(run: Run, tmp_path: Path) -> None:
    code, out, _ = run([case("a", 1), {"name": "b"}, []], "--json")
    assert code == 2
    assert {problem["line"] for problem in json.loads(out)["problems"]} == {2, 3}
    assert run([case("a", 1)], "--against", tmp_path / "missing")[0] == 2


def test_what_is_read_is_never_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, results = tmp_path / "corpus.jsonl", tmp_path / "results.jsonl"
    corpus.write_text(json.dumps(case("a", 1)) + "\n")
    results.write_text("{}\n")
    texts = corpus.read_text(), results.read_text()
    for options in (
        ("--out", corpus),
        ("--out", results, "--against", results),
        ("--out", tmp_path / "new", "--report", corpus),
        ("--out", tmp_path / "new", "--report", tmp_path / "new"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["asl", "conformance", str(corpus), *map(str, options)])
        assert end.value.code == 2
        assert "would be written over" in capsys.readouterr().err
    assert (corpus.read_text(), results.read_text()) == texts
    assert not (tmp_path / "new").exists()


def test_other_arguments_than_recorded_fail_where_details_are_required(run: Run) -> None:
    task = {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "t", "End": True}}}
    calls = {"T": [{"input": 2, "Return": "ok"}]}
    wrong = case("a", "ok", definition=task, tasks={"t": {"kind": "replay", "calls": calls}})

    assert run([wrong], "--require", "exact")[0] == 0
    code, out, err = run([wrong], "--require", "details")

    assert code == 1
    assert "1 case fails at the required level details" in err
    assert "failing at level details: 1" in out
    assert "'T' was given 1; recorded: 2" in out
    assert run([case("b", 1)], "--require", "details")[0] == 0


def test_without_the_extra_sim_the_user_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lupa", None)
    for name in [name for name in sys.modules if name.startswith("control_plane.twin")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "dcf.conformance.engine_run", raising=False)

    code, _, err = run([case("a", 1)], "--engine", "twin")

    assert code == 3
    assert extra_command("sim") in err
