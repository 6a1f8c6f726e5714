"""Whatever text stands in an expression: only the room's own errors come out, and in time."""

from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcf.asl.errors import AslError
from dcf.asl.intrinsics.catalogue import compile_intrinsic
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.jsonata.functions import FUNCTION_NAMES
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.payload import same
from dcf.asl.scope import Scope

LONGEST_S = 2.5

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
) | st.text(max_size=8)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "c d", "é", ""]), inner, max_size=4)
    ),
    max_leaves=15,
)
PATH_PIECES = st.sampled_from(
    [
        "$",
        "$$",
        "$v",
        ".a",
        ".b",
        "['c']",
        '["é"]',
        "[0]",
        "[-1]",
        "[*]",
        ".*",
        "..a",
        "..*",
        "[0:2]",
        "[::2]",
        "[0,1]",
        "['a','b']",
        ".length()\n",
        "",
        "",
        "",
        ".max()",
        ".first()",
        "[?(@.a)]",
        "[?(@.a>1)]",
        "[?(@.b=~/a+/i&&!(@.a=='x'||$.b))]",
        "[?(@.a\tin\t[1,2])]\n",
        "",
        "",
        "",
        "[?($..a\tcontains\t1)]",
        "[?(@.*\tsize\t1)]",
        "[?(@[?(@.a)].b!=null)]",
        "[",
        "]",
        "(",
        "'",
        "?",
    ]
)
INTRINSIC_PIECES = st.sampled_from(
    [
        "States.Format(",
        "States.Array(",
        "States.ArrayRange(",
        "States.MathRandom(",
        "States.Hash(",
        "States.StringToJson(",
        "States.JsonMerge(",
        "States.StringSplit(",
        "States.Base64Decode(",
        "States.ArrayPartition(",
        "States.UUID(",
        ")",
        ",",
        "'a{}'",
        "$.a",
        "$v",
        "$$.State",
        "1",
        "-1",
        "true",
        "null",
        "9999999999",
        "'",
        "\\",
        "States.",
        "1e400",
    ]
)
JSONATA_ATOMS = st.sampled_from(
    [
        "$states",
        "$states.input",
        "$states.input.a",
        "$states.input.*",
        "$states.input.**",
        "$v",
        "$v.a",
        "$",
        "$$",
        "a",
        "null",
        "true",
        "1",
        "0",
        "-1",
        "2.5",
        "1e308",
        "1e-7",
        "'x'",
        '"é"',
        "''",
        "[]",
        "{}",
        "$sum",
        "$string",
        "$nothing",
        "/a+/",
        "/(a|b)*/i",
        "%",
        "function($a){$a}",
        "function($a,$b){$a<$b}",
    ]
    + [f"${name}" for name in sorted(FUNCTION_NAMES)]
)
OPERATORS = st.sampled_from(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "in",
        "and",
        "or",
        "..",
        "~>",
        "?:",
        "??",
        ".",
    ]
)
SHAPES = st.sampled_from(
    [
        *("({0}).({1})", "{0}[{1}]", "[{0},{1}]", "[{0}]", "[{0}..{1}]", "{{'k':{0},'l':{1}}}"),
        *("({0}){{$string({1}):{2}}}", "({0})^(<{1},>{2})", "({0}) ~> |{1}|{{'a':{2}}},['b']|"),
        *("({0})#$i.({1})", "({0})@$x.({1})", "$map({0},function($v,$i){{{1}}})", "({0})[]"),
        *("$reduce({0},function($i,$j){{{1}}},{2})", "{0} ? {1} : {2}", "($x:={0}; {1})"),
        *("$filter({0},function($v){{{1}}})", "$sort({0},function($a,$b){{{1}}})", "-({0})"),
        *("$replace({0},/a|b/,{1})", "$each({0},function($v,$k){{{1}}})", "$string({0},true)"),
        *("$map({0}, $substring(?, {1}))", "($f:=function($n){{$n>9?{0}:$f($n+1)}}; $f(1))"),
    ]
)


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(sorted(FUNCTION_NAMES))
    calls = st.builds(
        lambda name, given: f"${name}({','.join(given)})", names, st.lists(inner, max_size=4)
    )
    pairs = st.builds(lambda a, sign, b: f"({a} {sign} {b})", inner, OPERATORS, inner)
    shapes = st.builds(lambda shape, *parts: shape.format(*parts), SHAPES, inner, inner, inner)
    return calls | pairs | shapes


JSONATA = st.recursive(JSONATA_ATOMS, combined, max_leaves=10)
SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def texts(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(pieces, min_size=1, max_size=12).map("".join) | st.text(max_size=30)


def try_out(compile: Any, text: str, data: Any) -> None:
    """Compile and evaluate; whatever comes out is JSON, and ``data`` is as it was."""
    before = json.dumps(data)
    started = time.thread_time()
    try:
        expression = compile(text, "Field")
        value = expression(Scope(data, {"State": {"Name": "S"}}, {"v": data}))
        json.dumps(value, allow_nan=False)
    except AslError:
        pass
    assert time.thread_time() - started < LONGEST_S
    assert json.dumps(data) == before
    assert same(data, json.loads(before))


@SETTINGS
@given(texts(PATH_PIECES), DATA)
def test_any_path_gives_json_or_an_error_of_ours(text: str, data: Any) -> None:
    try_out(compile_path, text, data)


@SETTINGS
@given(texts(INTRINSIC_PIECES), DATA)
def test_any_intrinsic_call_gives_json_or_an_error_of_ours(text: str, data: Any) -> None:
    try_out(compile_intrinsic, text, data)


@SETTINGS
@given(JSONATA | st.text(max_size=30), DATA)
def test_any_jsonata_gives_json_or_an_error_of_ours(text: str, data: Any) -> None:
    try_out(compile_jsonata, f"{{% {text} %}}", data)
