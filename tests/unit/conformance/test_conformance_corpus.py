"""Reading a corpus and results: every bad line is told, with its number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcf.conformance import BadCorpus, Result, read_corpus, read_results, write_results

GOOD = {
    "name": "one",
    "op": "execute",
    "definition": {"StartAt": "S", "States": {"S": {"Type": "Succeed"}}},
    "expected": {"status": "SUCCEEDED", "output": 1},
    "input": 1,
}


def corpus(folder: Path, *lines: object) -> Path:
    file = folder / "corpus.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts) + "\n")
    return file


def test_cases_keep_their_order_and_empty_lines_are_nothing(tmp_path: Path) -> None:
    file = corpus(tmp_path, {**GOOD, "name": "b"}, "", {**GOOD, "name": "a", "type": "EXPRESS"})

    cases = read_corpus(file)

    assert [case.name for case in cases] == ["b", "a"]
    assert [case.is_express for case in cases] == [False, True]
    assert cases[0].input == 1


def test_every_bad_line_is_told_with_its_number(tmp_path: Path) -> None:
    file = corpus(
        tmp_path,
        GOOD,
        "{no json",
        [1],
        {**GOOD, "name": "", "op": "dance"},
        GOOD,
        {**GOOD, "name": "x", "expected": {}, "tags": "pass", "tasks": []},
    )

    with pytest.raises(BadCorpus) as bad:
        read_corpus(file)

    told = [(problem.line, problem.message) for problem in bad.value.problems]
    assert [line for line, _ in told] == [2, 3, 4, 4, 5, 6, 6, 6]
    assert "no JSON" in told[0][1]
    assert "`op` must be one of execute" in told[3][1]
    assert told[4][1] == "the name is taken by line 1"
    assert all(problem.file == str(file) for problem in bad.value.problems)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = [
        Result("a", "SUCCEEDED", {"x": [1, None]}, seconds=0.25),
        Result("b", "FAILED", None, "Busy", "later", mismatches=("other arguments",)),
    ]
    file = tmp_path / "new" / "results.jsonl"

    write_results(file, results)

    assert list(read_results(file).values()) == results
    line = json.loads(file.read_text().splitlines()[1])
    assert line == {
        "name": "b",
        "status": "FAILED",
        "output": None,
        "error": "Busy",
        "cause": "later",
        "seconds": 0.0,
        "arguments_ok": False,
        "argument_mismatches": ["other arguments"],
    }


def test_results_without_a_status_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus) as bad:
        read_results(corpus(tmp_path, {"name": "a", "status": "FAILED"}, {"name": "b"}))

    assert [problem.line for problem in bad.value.problems] == [2]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\x00\x01\xff\xfe", "the line is no text in UTF-8 (byte 2 of it)"),
        (b"[" * 100_000, "nests too deep"),
        (b"9" * 5000, "too many digits"),
    ],
)
def test_what_python_would_not_read_is_told_in_plain_words(
    line: bytes, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_bytes(line + b"\n")

    with pytest.raises(BadCorpus) as bad:
        read_corpus(file)

    assert why in bad.value.problems[0].message
