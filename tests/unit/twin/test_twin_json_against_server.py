"""JSON texts and paths are read, stored and printed as RedisJSON does it."""

from __future__ import annotations

import json

import pytest
from campaigns import settled
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from twin_pair import Failure, Pair, Wire

pytestmark = settled("control_plane", "requirements/dev.txt", "tests/unit/twin")

SERVER_TEST = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

TEXTS = [
    *("-0", "-0.0", "1.0", "1e5", "1E400", "-1E400", "1e-400", "0.00001", "0.000001", "1e15"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775808", "1e16", "1e21"),
    *("-9223372036854775809", "9223372036854775808", "123456789012345680000", "5e-324", "1e23"),
    *("1.7976931348623157e308", "123456789012345678901234567890", "-1.5e-5", "-1e-5", "1.25e-5"),
    *("0.1000000000000000055511151231257827", "1.0198846131106497e185", "[0.3, 2.5e-8, 100.0e0]"),
    *("01", "-01", ".5", "1.", "1.x", "+1", "-", "1e", "1ex", "1.5.3", "1.5e", "1e5.3", "1-2"),
    *("NaN", "Infinity", "-Infinity", "nul", "truex", "1x", '"a"b', "[1]x", " 1 2", "", " ", "x"),
    *('"\\ud800"', '"\\ud83d\\ude00"', '"\\udc00\\ud800"', '"\\u0000\\u001f\\u007f\\/\\b\\f"'),
    *('"\t"', '"\x7f"', '"é\u2028😀"', '"\\x"', '"\\u12"', "'a'", "\x0b1", "\ufeff1", "\xa01"),
    *("[1,]", "[,1]", "[1 2]", '{"a":1,}', '{"a" 1}', "{a:1}", "{1:2}", '{"":1}', "{", "[", "]"),
    *('{"a":1,"b":2,"a":3}', '{"b":{"a":[]}, "a" : {}}', "\t[\n1\r]", '{"a":1}}', "// c\n1"),
    *("[" * 127 + "]" * 127, "[" * 128 + "]" * 128, '{"a":' * 128 + "1" + "}" * 128),
    *('"' + "[" * 200 + '"', "[" + "[]," * 200 + "1]", "[" * 5000),
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:24])
def test_a_text_is_refused_or_printed_alike(pair: Pair, text: str) -> None:
    pair.check("JSON.SET", "j", "$", text)
    pair.check("JSON.GET", "j")


def test_too_deep_nesting_is_named_in_the_error(pair: Pair) -> None:
    twin, server = pair.both("JSON.SET", "j", "$", "[" * 128 + "]" * 128)
    assert isinstance(twin, Failure)
    assert twin == server


NUMBER_TEXTS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?\Z"),
)


@SERVER_TEST
@given(texts=st.lists(NUMBER_TEXTS, min_size=1, max_size=20))
@example(texts=["0e99999", "-0e5", "0.0e-5", "1844674407370955161.99e3", "18446744073709551619.05"])
def test_every_number_prints_alike(wire: Wire, texts: list[str]) -> None:
    pair = Pair(wire)
    for text in texts:
        pair.check("JSON.SET", "j", "$", f"[{text}]")
        pair.check("JSON.GET", "j")


DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)
    ),
)


@SERVER_TEST
@given(document=DOCUMENTS, ascii_only=st.booleans())
def test_every_document_prints_alike(wire: Wire, document: object, ascii_only: bool) -> None:
    pair = Pair(wire)
    try:
        pair.check("JSON.SET", "j", "$", json.dumps(document, ensure_ascii=ascii_only))
    except UnicodeEncodeError:
        return  # a lone surrogate that no client could send
    pair.check("JSON.GET", "j")


DOCUMENT = (
    '{"a":{"b":1,"n":null,"s":"é😀","f":1.5,"t":true,"e":{}},"l":[1,2,{"q":1},[]],'
    '"m":9223372036854775807,"u":18446744073709551615,"a b":{"c.d":1},"x-y":2,"é":3,"0":5}'
)
PATHS = [
    *("$", ".", "$.a", ".a", "a", "a.b", "$.a.b", "$.nope", ".nope", "nope", '$["a"]', '["a"]'),
    *("$.l[0]", "$.l[-1]", ".l[9]", "$.l[9]", ".['a']", "$['a']['b']", ".a.b.c", "$.a.b.c", ".l.a"),
    *(".a[0]", "$.a.n", ".a.n", "$.a.s", ".a.s", "$.a.f", ".a.f", "$.a.t", "$.a.e", ".a.e", "$.l"),
    *(".l", "$.l[3]", "$.m", ".m", "$.u", ".u", '$["a b"]["c.d"]', ".x-y", '$["é"]', "$.e"),
    *("$.0", '$[ "a" ]', "$.l[2].q", "$.l[-9]", "$.l[-3]", "$[0]", "$a"),
]
COMMANDS = [
    *("JSON.GET j {}", "JSON.MGET j none {}", "JSON.TYPE j {}", "JSON.TYPE none {}"),
    *("JSON.STRLEN j {}", "JSON.STRLEN none {}", "JSON.ARRLEN j {}", "JSON.ARRLEN none {}"),
    *(
        "JSON.OBJKEYS j {}",
        "JSON.OBJKEYS none {}",
        "JSON.NUMINCRBY j {} 2",
        "JSON.NUMINCRBY j {} x",
    ),
    *("JSON.NUMINCRBY j {} 1.5", 'JSON.NUMINCRBY j {} "x"', "JSON.NUMINCRBY none {} 1"),
    *("JSON.NUMINCRBY j {} -1e308", "JSON.NUMINCRBY j {} 9223372036854775807", "JSON.GET none {}"),
    *("JSON.ARRAPPEND j {} 1 []", "JSON.ARRAPPEND j {} 1 {", "JSON.ARRAPPEND none {} 1"),
    *("JSON.ARRAPPEND j {}", "JSON.SET j {} [1]", "JSON.SET j {} 1 NX", "JSON.SET j {} 1 XX"),
    *("JSON.SET none {} 1", "JSON.SET none {} 1 XX", "JSON.SET none {} 1 NX", "JSON.SET j {} {"),
    *("JSON.SET j {} 1 ZZ", "JSON.SET j {} 1 NX XX", "JSON.DEL j {}", "JSON.DEL none {}"),
    *("JSON.MSET new $ 1 j {} 7", "JSON.MSET j {} 7 none .a 1", "JSON.MSET new $ 1 j {} {"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_path_leads_to_the_same_place(pair: Pair, command: str) -> None:
    for path in PATHS:
        pair.check("FLUSHALL")
        pair.check("JSON.SET", "j", "$", DOCUMENT)
        pair.check(*(part.replace("{}", path) for part in command.split(" ")))
        pair.check_content()


def test_several_paths_give_an_object(pair: Pair) -> None:
    pair.check("JSON.SET", "j", "$", DOCUMENT)
    assert pair.on_twin("JSON.GET", "j", ".x-y", ".0") == '{".x-y":2,".0":5}'
    for paths in [(".a", "l"), ("$.a", "$.nope"), (".a", "$.l"), (".a", ".nope"), (".a", ".a")]:
        pair.check("JSON.GET", "j", *paths)


def test_a_removed_member_gives_its_place_to_the_last_one(pair: Pair) -> None:
    pair.check("JSON.SET", "j", "$", '{"a":1,"b":2,"c":3,"d":4}')
    pair.check("JSON.DEL", "j", "$.b")
    assert pair.check("JSON.GET", "j") == '{"a":1,"d":4,"c":3}'


def test_mset_with_one_bad_text_applies_nothing(pair: Pair) -> None:
    pair.check("JSON.MSET", "a", "$", "1", "b", "$", "{", "c", "$", "3")
    assert pair.check("EXISTS", "a", "b", "c") == 0


def test_arities_are_checked_alike(pair: Pair) -> None:
    for command in ("JSON.GET", "JSON.SET a", "JSON.SET a $", "JSON.MGET a", "JSON.MSET a $ 1 b"):
        pair.check(*command.split(" "))
