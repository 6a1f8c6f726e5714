"""The suite of JSONata's reference implementation, where it is beside this repository.

``DCF_JSONATA_SUITE`` names another place: an archive of ``groups/GROUP/*.json`` and
``datasets/*.json``, as they stand in ``test/test-suite`` of jsonata-js/jsonata.
"""

from __future__ import annotations

import json
import math
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import jlens
import pytest

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata import evaluator
from dcf.asl.jsonata.functions import FUNCTION_NAMES, FunctionError, NotData, TooBig
from dcf.asl.jsonata.program import read_program

_BESIDE = Path(__file__).parents[4] / "shared" / "conformance" / "jsonata" / "suite.tar.xz"
SUITE = Path(os.environ.get("DCF_JSONATA_SUITE") or _BESIDE)
UNDEFINED = object()
LEAST = 0.995
EVAL = "$eval, which Step Functions refuses"
_MANY = "a range of ten million items is more than an expression may make"
_JUDGED = {
    "$encodeUrl": "half a surrogate pair is refused before anything is evaluated",
    "$string(1/0)": "a division by zero is an error itself, D1001 instead of D3001",
    "[1..10000000]": _MANY,
    "[100..10000099]": _MANY,
}
"""Why a case differs, by what is in its expression."""
_LIMITS = {"U1001": ("D1011", "U1006")}
"""What the engine calls a limit of depth or time that the suite names otherwise."""


def read_suite(path: Path) -> Iterator[tuple[str, str, dict[str, Any], Any]]:
    """(name, expression, case, data) of every case."""
    with tarfile.open(path) as archive:
        members = [member for member in archive if member.isfile()]
        texts = {
            str(PurePosixPath(one.name)): archive.extractfile(one).read().decode()
            for one in members
        }  # type: ignore[union-attr]
    datasets = {
        PurePosixPath(name).stem: text for name, text in texts.items() if "datasets" in name
    }
    for name, text in sorted(texts.items()):
        if "/groups/" not in f"/{name}" or not name.endswith(".json"):
            continue
        found = json.loads(text)
        for case in found if isinstance(found, list) else [found]:
            expression = (
                case.get("expr") or texts[str(PurePosixPath(name).parent / case["expr-file"])]
            )
            data = (
                case["data"]
                if "data" in case
                else json.loads(datasets.get(case.get("dataset"), "null"))
            )
            has_input = "data" in case or case.get("dataset") is not None
            yield name, expression, case, data if has_input else UNDEFINED


def outcome(expression: str, case: dict[str, Any], data: Any) -> Any:
    """The result, UNDEFINED, or the code of an error."""
    bindings = case.get("bindings") or {}
    try:
        program = read_program(expression, frozenset(FUNCTION_NAMES & bindings.keys()))
        text = evaluator.evaluate(
            program.text,
            {} if program.is_input else bindings,
            input=_input(program.is_input, bindings, data),
            around=program.around + max(0, case.get("depth", 0) - evaluator.DEPTH_LIMIT),
        )
    except ExpressionError as error:
        return "bad", error.message
    except (jlens.JlensError, FunctionError) as error:
        return "code", error.code
    except (NotData, TooBig) as error:
        return "refused", type(error).__name__
    return UNDEFINED if text is None else json.loads(text)


def _input(is_input: bool, bindings: dict[str, Any], data: Any) -> str | None:
    if is_input:
        return json.dumps(bindings)
    return None if data is UNDEFINED else json.dumps(data)


def is_right(case: dict[str, Any], found: Any) -> bool:
    code = case.get("code") or (case.get("error") or {}).get("code")
    if code is not None:
        is_bad = isinstance(found, tuple) and found[0] == "bad" and f"{code}: " in found[1]
        return is_bad or found in [("code", one) for one in (code, *_LIMITS.get(code, ()))]
    if case.get("undefinedResult"):
        # A function is no JSON: the reference leaves it out, Step Functions refuses it.
        return found is UNDEFINED or found == ("refused", "NotData")
    return "result" not in case or same(case["result"], found)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) or isinstance(right, float):
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        return numbers and math.isclose(left, right, rel_tol=1e-15)
    return type(left) is type(right) and bool(left == right)


@pytest.mark.skipif(not SUITE.is_file(), reason="there is no suite of JSONata here")
def test_what_the_reference_answers_is_what_an_expression_gives() -> None:
    counts, wrong = compared()
    cases = counts.total() - counts[EVAL]

    assert wrong == []
    assert cases > 1600
    assert counts["agrees"] >= LEAST * cases


def compared() -> tuple[Counter[str], list[str]]:
    """How many cases agree, differ or are left, and those that differ."""
    counts: Counter[str] = Counter()
    wrong = []
    for name, expression, case, data in read_suite(SUITE):
        if "$eval(" in expression:
            counts[EVAL] += 1
        elif is_right(case, found := outcome(expression, case, data)):
            counts["agrees"] += 1
        elif judged := [why for part, why in _JUDGED.items() if part in expression]:
            counts[judged[0]] += 1
        else:
            counts["differs"] += 1
            wrong.append(f"{name}: {expression!r}: {found}")
    return counts, wrong
