"""Scripts see the same Lua, the same ``redis`` and the same ``cjson`` as on a server."""

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

SNIPPETS = {
    "conversion of results": """
        return {1, 2, nil, 3} | return {1.9, -1.9, 'x', true, false, 4} | return {{}, {{1}}, 'a'}
        return 3.99 | return -0.5 | return true | return false | return nil | return | return 'x'
        return 1/0 | return -1/0 | return 0/0 | return 1e30 | return 2^53 + 1 | return 2^63
        return {a = 1} | return {1, a = 2} | return 1, 2 | return function() end
        return {ok = 'fine'} | return {err = 'BAD thing'} | return {ok = 'a', err = 'B c'}
        return {err = 5} | return {ok = 5} | return {{err = 'X y'}, {ok = 'f'}} | return cjson.null
        return {cjson.null, 1} | return {1, {2, {3, nil, 4}}, 'a'} | return 'é😀'
    """,
    "conversion of replies and arguments": """
        return type(redis.call('GET', 'none')) | return redis.call('SET', 's', 3.0)
        return redis.call('GET', 's') | return redis.call('SET', 's', 0.1 + 0.2).ok
        return redis.call('GET', 's') | redis.call('SET', 's', 1.5e-7) return redis.call('GET', 's')
        redis.call('SET', 's', 2^62) return redis.call('GET', 's')
        redis.call('SET', 's', 2^63) return redis.call('GET', 's')
        redis.call('SET', 's', -1.25e300) return redis.call('GET', 's')
        redis.call('SET', 's', 1/0) return redis.call('GET', 's')
        redis.call('SET', 's', -0.0) return redis.call('GET', 's')
        return type(redis.call('EXISTS', 's')) | return redis.call('HMGET', 'none', 'a', 'b')
        return type(redis.call('HMGET', 'none', 'a', 'b')[1]) | return #redis.call('KEYS', '*')
        return type(redis.call('XREAD', 'STREAMS', 'none', '0')) | return redis.call('PING')
        return redis.call('json.get', 'none') | return redis.call('TYPE', 's')
        return type(redis.call('SET', 's', 1, 'NX')) | return redis.call('PING').ok
    """,
    "errors": """
        return redis.call('HGET', 's', 'f') | return redis.pcall('HGET', 's', 'f')
        return redis.pcall('HGET', 's', 'f').err | error('boom') | error('boom', 0)
        error('boom', 2)
        error({err = 'MY thing'}) | error({err = 'MY'}) | error({1, 2}) | error() | error(5)
        error('')
        error({err = 5}) | error(true) | error(redis.error_reply('A b')) | local a = nil return a.b
        local ok, r = pcall(redis.call, 'HGET', 's', 'f') return {tostring(ok), type(r), r}
        local ok, r = pcall(redis.call, 'HGET', 's', 'f') error(r)
        local ok, r = pcall(redis.call, 'HGET', 's', 'f') return r
        local ok, r = pcall(redis.pcall, 'HGET', 's', 'f') return {tostring(ok), type(r), r}
        local ok, r = pcall(error, {err = 'X y', a = 1}) return {type(r), r}
        local ok, r = pcall(error, {a = 1}) return {type(r), r.a}
        local ok, r = pcall(error) return type(r)
        local ok, r = pcall(error, 5) return type(r) | local ok, r = pcall(error, 'x') return r
        return pcall(redis.call, 'SET', 's', 1)
        local ok, a, b = pcall(function() return 1, 2 end) return {a, b}
        local ok, r = xpcall(function() return redis.call('HGET', 's', 'f') end, type) return r
        local ok, r = xpcall(function() return 5 end, type) return {tostring(ok), r}
        redis.call('SET', 'kept', 1) redis.call('HGET', 's', 'f') | return redis.call('GET', 'kept')
        return redis.call('GET') | return redis.call() | return redis.call('GET', {})
        return redis.call('GET', nil) | return redis.call('GET', true)
        return redis.call('SET', 's', 'a', 'b')
        return redis.error_reply('My Err') | return redis.error_reply('-My Err')
        return redis.error_reply('Foo')
        return redis.error_reply('-Foo') | return redis.error_reply(1)
        return redis.error_reply({})
        return redis.error_reply('') | return redis.status_reply('x') | return redis.status_reply()
        return redis.status_reply('-x y') | return 'x' + 1 | return #nil | retur 1 | return (
    """,
    "the world of a script": """
        return KEYS[1] | return #KEYS | return KEYS[2] | return ARGV[1] | return #ARGV
        return type(ARGV[2])
        return nothing | new = 1 | KEYS = {} | KEYS[3] = 1 return KEYS[3] | return _G.KEYS == KEYS
        return print | return require | return io | return package | return dofile | return python
        return debug | return newproxy | return setfenv | return getfenv | return module
        return loadfile
        return type(os.clock()) | return type(os.time) | return _VERSION
        local function f() g = 1 end f()
        return redis.sha1hex('') | return redis.sha1hex('é') | return redis.sha1hex(1)
        return redis.sha1hex({})
        return redis.sha1hex() | return redis.sha1hex('a', 'b')
        return redis.log(redis.LOG_WARNING, 'x')
        return redis.log(1) | return tostring(0.1 + 0.2) .. tostring(1e15) .. 2^53
        return table.concat({1, 2})
        return string.format('%.0f %d %5.2f', 2^53, 3, 1/3) | return #'é'
        return string.rep('ab', 3)
        return {unpack({1, 2, 3})} | return select('#', 1, nil) | return tonumber('0x10')
        return tonumber(' 5 ')
        return tonumber('5x') == nil | return math.floor(-1.5) | return math.max(1, 5, 3)
        return 7 % -3
        return {string.find('Fan[2]/Fetch', '^(.*)/([^/]*)$')}
        return (string.gsub('a[1]', '%[%d+%]$', ''))
        local t = {3, 1, 2} table.sort(t) return t | return string.byte('A')
        return rawget(_G, 'x')
        local t = setmetatable({}, {__index = function(t, k) return k end}) return t[1]
    """,
    "cjson": """
        return cjson.encode() | return cjson.encode(1, 2) | return cjson.decode()
        return cjson.decode({})
        return cjson.decode(12) | return cjson.decode(nil) | return type(cjson.null)
        return cjson.null == nil
        return cjson.decode('null') == cjson.null | return cjson.decode('[null]')[1] == cjson.null
        local t = {} t[1] = t return cjson.encode(t)
        return #cjson.decode(string.rep('[', 1000) .. string.rep(']', 1000))
        return #cjson.decode(string.rep('[', 1001) .. string.rep(']', 1001))
        return #cjson.decode(string.rep('{"a":', 1001) .. '1' .. string.rep('}', 1001))
        local t = 1 for i = 1, 1000 do t = {t} end return #cjson.encode(t)
        local t = 1 for i = 1, 1001 do t = {t} end return #cjson.encode(t)
    """,
}


def snippets(text: str) -> list[str]:
    lines = " | ".join(line.strip() for line in text.strip().splitlines())
    return [snippet for snippet in lines.split(" | ") if snippet]


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_snippets_give_the_same_reply(pair: Pair, text: str) -> None:
    pair.check("SET", "s", "1")
    for snippet in snippets(text):
        pair.script(snippet, ["first"], ["one", 2])
    pair.check_content()


ROUND_TRIP = """
local ok, value = pcall(cjson.decode, ARGV[1])
if not ok then return {'refused', value} end
local encoded, text = pcall(cjson.encode, value)
return {type(value), tostring(encoded), text}
"""

TEXTS = [
    *("[]", "{}", "[1,2]", '{"a":[]}', "null", "[null]", "1", '"x"', "tru", "[1,]", '{"a":1,}'),
    *("[1 2]", "", "  ", "[NaN,Infinity]", "-Infinity", "-nan", "infinit", "infx", "0x10", "-0x1F"),
    *("0x", "01", "1.", ".5", "+1", "-0", "[1]x", '"\\ud800"', '"\\ud83d\\ude00"', '"\\udc00"'),
    *(
        '"\\u00e9\\u20ac"',
        '"\\ud83d\\u0041"',
        '"a\tb"',
        '{"a":1,"a":2}',
        "1e400",
        "-",
        "1-2",
        "[1}",
    ),
    *(
        "12345678901234567890",
        "9007199254740993",
        "123456789012345",
        "0.1",
        "1.0",
        "1e2",
        "1e",
        "1e+",
    ),
    *(
        '"\\/\\b\\f\\n\\r\\t"',
        '"\\x"',
        "{1:2}",
        "{'a':1}",
        "[[[",
        '"abc',
        '"abc\\',
        '{"1":2}',
        '{"a"}',
    ),
    *('{"a":null}', "[1,null]", "\x00", '"a\x00b"', "1\x00x", '"\\u0000"', "{]", '{"a",1}', "[,1]"),
    *(
        "// c",
        "[true,false]",
        '"\\u12"',
        '{"a":1 "b":2}',
        '{"a" 1}',
        '{"a":}',
        "{:1}",
        "[:]",
        "]",
        ":",
    ),
    *(
        '[1,"\\q"]',
        '{"\\q":1}',
        '["a" "b]',
        "[1 nul]",
        "[1 true]",
        "[1 [",
        "1.5e3x",
        "-.5",
        "+.5e1",
        "-.",
        "0x1.8p1",
        "0x.8",
        "0x1.",
        "-0x1p",
        "-a",
        "\ufeff1",
    ),
]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_cjson_reads_and_writes_alike(pair: Pair, text: str) -> None:
    pair.script(ROUND_TRIP, args=[text])


JSON_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(st.characters(codec="utf-8"), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=12),
    ),
)


@SERVER_TEST
@given(value=JSON_VALUES, ascii_only=st.booleans())
def test_any_json_goes_through_cjson_alike(wire: Wire, value: object, ascii_only: bool) -> None:
    Pair(wire).script(ROUND_TRIP, args=[json.dumps(value, ensure_ascii=ascii_only)])


@SERVER_TEST
@given(text=st.text('{}[]",:\\u0d8c1e.-+xntrue ', max_size=14))
@example(text='{"e":1,}')
def test_any_broken_json_is_refused_alike(wire: Wire, text: str) -> None:
    Pair(wire).script(ROUND_TRIP, args=[text])


LUA_NUMBERS = st.one_of(
    st.integers(-3, 25).map(str), st.sampled_from(["1.5", "2^53", "1e15", "1/3", "-0.0", "1/0"])
)
LUA_VALUES = st.recursive(
    st.one_of(
        LUA_NUMBERS,
        st.sampled_from(["nil", "true", "cjson.null", "'a/b\"\\n\\0\\127'", "'é'", "print_"]),
    ),
    lambda inner: st.lists(
        st.one_of(
            inner,
            st.tuples(LUA_NUMBERS, inner).map(lambda pair: f"[{pair[0]}]={pair[1]}"),
            st.tuples(st.sampled_from("xyz"), inner).map(lambda pair: f"{pair[0]}={pair[1]}"),
        ),
        max_size=5,
    ).map(lambda items: "{" + ",".join(items) + "}"),
)


@SERVER_TEST
@given(literal=LUA_VALUES)
@example(literal="{[1]=1,[100]=3}")
@example(literal="{[10]=1}")
@example(literal="{[11]=1}")
@example(literal="{[true]=1}")
@example(literal="{function() end}")
def test_any_lua_value_is_encoded_and_returned_alike(wire: Wire, literal: str) -> None:
    pair = Pair(wire)
    source = f"local print_ = type; local v = {literal}; "
    pair.script(source + "local ok, r = pcall(cjson.encode, v) return r")
    pair.script(source + "return v")


def test_what_was_written_before_an_error_stays(pair: Pair) -> None:
    reply = pair.script("redis.call('SET', 'a', 1) redis.call('INCR', 'a') error('x')", ["a"])
    assert isinstance(reply, Failure)
    assert pair.check("GET", "a") == "2"
