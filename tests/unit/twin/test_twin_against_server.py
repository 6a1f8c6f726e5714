"""The twin answers every sequence of commands as a real server does."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twin_pair import Pair, Wire

from control_plane.twin import Unsupported

SEQUENCES: dict[str, str] = {
    "strings": """
        SET s 1 | GET s | GET none | SET s 2 NX | SET s 3 XX | SET new 1 XX | INCR s | INCRBY s -7
        INCRBY s x | INCRBY s 9223372036854775807 | INCRBY s 9223372036854775807 | SET t 01
        INCR t | SETNX t 5 | SETNX u 5 | SET s v EX 0 | SET s v PX x | SET s v ZZ | SET s v EX
        SET s v NX XX | SET p v PX 100000 | TTL p | SET p w KEEPTTL | TTL p | SET p x | TTL p
        GET | SET k | INCR fresh | GET fresh | set low 1 | get low
    """,
    "hashes": """
        HSET h a | HSET h a 1 b | HSET h a 1 b 2 | HSET h a 3 c 4 | HGET h a | HGET h z
        HGET none a | HMGET h a z c | HMGET none a | HGETALL h | HGETALL none | HINCRBY h a 5
        HINCRBY h a x | HSET h t x | HINCRBY h t 1 | HINCRBY n new 3 | HEXISTS h a | HEXISTS h z
        HLEN h | HLEN none | HDEL h a b z | HDEL h c t | EXISTS h | HDEL none a
        HINCRBY n new 9223372036854775807
    """,
    "sets": """
        SADD s b a b | SADD s c | SCARD s | SMEMBERS s | SISMEMBER s a | SISMEMBER s z | SREM s a z
        SSCAN s 0 | SSCAN s 0 MATCH b* | SSCAN s x | SSCAN none 0 | SSCAN s 0 COUNT 0
        SSCAN s 0 COUNT | SREM s b c | EXISTS s | SMEMBERS none | SCARD none | SADD i 3 1 2
        SMEMBERS i
    """,
    "sorted sets": """
        ZADD z 1 a 2 b | ZADD z x a | ZADD z CH 3 a 4 c | ZADD z NX XX 1 a | ZADD z GT LT 1 a
        ZADD z NX GT 1 a | ZADD z GT CH 1 a 9 b | ZADD z LT CH 1 a 99 b | ZADD z XX 1 new
        ZADD z NX 7 a 7 d | ZSCORE z a | ZSCORE z none | ZSCORE none a | ZADD z XX CH 5 a
        ZMSCORE z a none b | ZMSCORE none a b | ZMSCORE z
        ZADD empty XX 1 a | EXISTS empty | ZADD z 1 | ZADD z 1 a 2 | ZADD z nan a
        ZADD z 1.5 f 1e20 g inf h -inf i 0.1 j 1e-7 k 123456789012345678 l 3.0 m -0 n
        ZADD z 1e16 p 1e21 q 1.7e18 r 0.00001 s 1e17 t 1e-5 u 123.456 v 1e22 w 5e-324 x
        ZRANGE z 0 -1 WITHSCORES | ZRANGE z 1 3 | ZRANGE z -3 -1 | ZRANGE z 5 1 | ZRANGE z 2 99
        ZRANGE z 0 2 REV | ZRANGE z -99 2 REV WITHSCORES | ZRANGE z 3 -1 REV
        ZRANGE z 0 1 LIMIT 0 1
        ZRANGE z a b | ZRANGE z 0 1 FOO | ZRANGE z 3 1 BYSCORE REV | ZRANGE z 1 3 BYSCORE
        ZRANGE z (3 -inf BYSCORE REV LIMIT 0 2 WITHSCORES | ZRANGE z -inf +inf BYSCORE LIMIT 1 2
        ZRANGEBYSCORE z (1 3 WITHSCORES | ZRANGEBYSCORE z -inf +inf LIMIT 1 2
        ZRANGEBYSCORE z -inf (3 LIMIT 1 -1 | ZRANGEBYSCORE z x 3 | ZRANGEBYSCORE z 1 3 LIMIT x 1
        ZRANGEBYSCORE z 1 3 LIMIT -1 1 | ZRANGEBYSCORE z 3 1 | ZRANGEBYSCORE none 0 1
        ZCOUNT z (1 inf | ZCOUNT z -inf (1 | ZCOUNT none 0 1 | ZCARD z | ZCARD none | ZPOPMIN z
        ZPOPMIN z 2 | ZPOPMIN none | ZPOPMIN z 0 | ZPOPMIN z -1 | ZINCRBY z 2.5 a | ZINCRBY z x a
        ZINCRBY z -inf h | ZINCRBY fresh 3 a | ZREM z a none | ZREM fresh a | EXISTS fresh
        ZREM none a | ZADD ties 1 b 1 a 1 B 1 é 1 aa | ZRANGE ties 0 -1 | ZPOPMIN ties 99
        EXISTS ties
    """,
    "keys": """
        TYPE none | EXISTS none | SET a 1 | HSET h f 1 | SADD s 1 | ZADD z 1 m | XADD x 1-1 f v
        JSON.SET j $ {} | TYPE a | TYPE h | TYPE s | TYPE z | TYPE x | TYPE j | DBSIZE | KEYS *
        KEYS [as] | KEYS ? | KEYS [^a] | KEYS nope* | KEYS [a-h] | EXISTS a a none | RENAME none b
        RENAME a b | GET b | RENAME b b | RENAME none none | COPY b b | COPY b c | COPY b c
        COPY h c REPLACE | HGETALL c | COPY none d | COPY j j2 | JSON.SET j2 .a 1 | JSON.GET j
        COPY z z2 | ZADD z2 5 m | ZSCORE z m | COPY x x2 | XADD x2 2-1 f v | XLEN x | COPY a
        EXPIRE b 100 | TTL b | RENAME b e | TTL e | COPY e e2 | TTL e2 | PERSIST e | PERSIST e
        TTL e | TTL none | PTTL none | PTTL e | EXPIRE none 1 | EXPIRE e x | EXPIRE e 0 | EXISTS e
        PEXPIRE h -5 | EXISTS h | EXPIRE j 100 | JSON.SET j $ 1 | TTL j | DEL a z none | UNLINK s
        DEL | PING | PING hi | PING a b | NOSUCH a b | TIME x | FLUSHALL | DBSIZE
    """,
    "wrong types": """
        SET s v | HSET h f v | JSON.SET j $ 1 | GET h | GET j | INCR h | HGET s f | HSET s f v
        HMGET s f | HGETALL s | HDEL s f | HINCRBY s f 1 | HLEN s | HEXISTS s f | SADD s m
        SREM s m | SCARD s | SMEMBERS s | SISMEMBER s m | SSCAN s 0 | ZADD s 1 m | ZREM s m
        ZSCORE s m | ZCARD s | ZCOUNT s 0 1 | ZRANGE s 0 1 | ZRANGEBYSCORE s 0 1 | ZPOPMIN s
        ZINCRBY s 1 m | XADD s 1-1 f v | XLEN s | XRANGE s - + | XDEL s 1-1 | XTRIM s MAXLEN 1
        XREAD STREAMS s 0 | XGROUP CREATE s g 0 | XACK s g 1-1 | XPENDING s g | XINFO STREAM s
        XINFO GROUPS s | JSON.GET s | JSON.SET s $ 1 | JSON.DEL s | JSON.TYPE s | JSON.GET h .a
        JSON.NUMINCRBY s .a 1 | JSON.ARRLEN s | JSON.OBJKEYS s | JSON.STRLEN s
        JSON.ARRAPPEND s . 1 | JSON.MGET s j . | JSON.MSET j $ 2 s $ 3 | JSON.GET j | SET h 1
        SETNX j 1 | ZADD s x m | HINCRBY s f x | XADD s bad f v
    """,
    "stream entries": """
        XADD s NOMKSTREAM * f v | XADD s 0-0 f v | XADD s 1-1 f v | XADD s 1-1 f v | XADD s 1 f v
        XADD s 1-* f w | XADD s 5 f v g w | XADD s 6-0 f | XADD s x f v | XADD s 4-* f v
        XADD s MAXLEN 2 7-0 f v | XLEN s | XADD s MAXLEN ~ 2 8-0 f v | XADD s MAXLEN = 2 9-0 f v
        XADD s MAXLEN x 9-1 f v | XADD s MAXLEN -1 9-1 f v | XADD s 9-5 f v | XRANGE s - +
        XRANGE s (9-0 + | XRANGE s 9 9 | XRANGE s 9 9 COUNT 1 | XRANGE s - + COUNT 0
        XRANGE s - + COUNT -1 | XRANGE s x + | XRANGE none - + | XRANGE none - + COUNT 0
        XRANGE s + - | XRANGE s (- + | XRANGE s - (9-5 | XREVRANGE s + - | XREVRANGE s + - COUNT 1
        XREVRANGE s 9-0 - | XRANGE s - + FOO 1 | XRANGE s - + COUNT | XDEL s 9-0 100-1 | XDEL s x
        XDEL none 1-1 | XINFO STREAM s | XADD s 10-0 f v | XTRIM s MAXLEN 1 | XTRIM s MAXLEN = 0
        EXISTS s | XLEN s | XINFO STREAM s | XADD s 9-9 f v | XADD s 11-0 f v | XINFO STREAM s
        XTRIM none MAXLEN 0 | XTRIM s MAXLEN -1 | XTRIM s MAXLEN ~ 0 | XLEN none | XLEN s
        XADD s 99999999999999999999 f v | XADD s 18446744073709551615-18446744073709551615 f v
        XADD s * f v | XADD s 18446744073709551615-* f v | XADD w | XADD w * | XADD w * f
        XADD w 3-18446744073709551615 f v | XADD w 3-* f v | XADD w 4-* f v | XRANGE w 3-5 +
        XINFO STREAM none | XINFO FOO | XREAD STREAMS s 0 | XREAD COUNT 1 STREAMS s w 0 0
        XREAD STREAMS s $ | XREAD STREAMS w + | XREAD STREAMS s | XREAD STREAMS s w 0
        XREAD STREAMS s > | XREAD STREAMS none 0 | XREAD COUNT x STREAMS s 0
        XREAD BLOCK x STREAMS s 0
        XREAD COUNT 1 s 0
    """,
    "consumer groups": """
        XGROUP CREATE none g $ | XGROUP CREATE q g $ MKSTREAM | XGROUP CREATE q g $ MKSTREAM
        XGROUP CREATE q h zz | XGROUP FOO | XADD s 10-0 a 1 | XADD s 11-0 b 2 | XADD s 12-0 c 3
        XGROUP CREATE s g 0 | XINFO GROUPS s | XINFO GROUPS none
        XREADGROUP GROUP g c1 COUNT 1 STREAMS s > | XREADGROUP GROUP g c2 STREAMS s >
        XREADGROUP GROUP g c2 STREAMS s > | XREADGROUP GROUP g c1 STREAMS s 0
        XREADGROUP GROUP g c3 STREAMS s 0 | XINFO GROUPS s | XPENDING s g
        XPENDING s g - + 10 | XPENDING s g - + 10 c2 | XPENDING s g - + 1
        XPENDING s g IDLE 100000 - + 10 | XPENDING q g | XPENDING s none | XPENDING none g
        XPENDING s g - + | XPENDING s g (10-0 + 9 | XDEL s 10-0 | XREADGROUP GROUP g c1 STREAMS s 0
        XCLAIM s g c3 0 10-0 11-0 | XPENDING s g | XCLAIM s g c3 100000 11-0
        XCLAIM s g c3 0 11-0 JUSTID | XPENDING s g - + 10 | XCLAIM s g c3 0 99-0
        XCLAIM s g c3 0 11-0 RETRYCOUNT 7 | XPENDING s g - + 10 | XCLAIM s none c 0 1-1
        XCLAIM s g c x 1-1 | XCLAIM s g c 0 11-0 BOGUS | XCLAIM s g c 0 x
        XAUTOCLAIM s g c4 0 0 | XAUTOCLAIM s g c4 0 0 COUNT 1 | XAUTOCLAIM s g c4 0 0 JUSTID
        XAUTOCLAIM s g c4 100000 - | XAUTOCLAIM s none c4 0 0 | XAUTOCLAIM s g c4 0 (11-0
        XAUTOCLAIM s g c4 0 0 COUNT 0 | XPENDING s g - + 10 | XDEL s 12-0 | XAUTOCLAIM s g c5 0 0
        XPENDING s g | XACK s g 11-0 11-0 | XACK s none 1-0 | XACK none g 1-0 | XACK s g x
        XACK s g | XCLAIM s g c9 0 11-0 | XCLAIM s g c9 0 11-0 FORCE | XPENDING s g
        XREADGROUP GROUP none c STREAMS s > | XREADGROUP GROUP g c STREAMS none >
        XREADGROUP GROUP g c STREAMS s $ | XREADGROUP GROUP g c BLOCK x STREAMS s >
        XREADGROUP GROUP g c BLOCK -1 STREAMS s > | XREADGROUP GROUP g c COUNT 0 STREAMS s >
        XADD s 20-0 a 1 | XREADGROUP GROUP g c NOACK STREAMS s > | XPENDING s g
        XREADGROUP GROUP g c STREAMS s none > > | XREADGROUP GROUP g c STREAMS s
        XINFO GROUPS s | XGROUP DESTROY s g | XGROUP DESTROY s g | XGROUP DESTROY none g
        XGROUP CREATE s late $ | XADD s 21-0 a 1 | XREADGROUP GROUP late c STREAMS s 0
        XINFO GROUPS s
        XREADGROUP GROUP late c STREAMS s q > > | XREADGROUP GROUP late c STREAMS s q >
        XREADGROUP GROUP late c COUNT 1 s 0 >
        XADD q 30-0 a 1 | XREADGROUP GROUP late c7 STREAMS s > | XINFO CONSUMERS s late
        XGROUP CREATE q late 0 | XREADGROUP GROUP late c8 STREAMS s q > >
        XREADGROUP GROUP late c9 STREAMS s q > > | XINFO CONSUMERS q late
        XINFO CONSUMERS s late | XCLAIM q late c7 0 30-0 | XINFO CONSUMERS q late
        XINFO CONSUMERS none late | XINFO CONSUMERS s none | XINFO CONSUMERS s
        XGROUP DELCONSUMER q late c7 | XGROUP DELCONSUMER q late c7 | XINFO CONSUMERS q late
        XPENDING q late | XINFO GROUPS q | XGROUP DELCONSUMER q none c | XGROUP DELCONSUMER none g c
        XGROUP DELCONSUMER q late
    """,
}


def commands(text: str) -> list[list[str]]:
    lines = " | ".join(line.strip() for line in text.strip().splitlines())
    return [command.split(" ") for command in lines.split(" | ")]


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_replies_and_content_are_those_of_a_server(pair: Pair, sequence: str) -> None:
    for command in commands(sequence):
        pair.check(*command)
    pair.check_content()


KEYS = st.sampled_from(["a", "b", "c"])
WORDS = st.sampled_from(["m", "n", "o", "1", "-2", "é", ""])
SMALL = st.integers(-3, 6).map(str)
SCORES = st.one_of(SMALL, st.sampled_from(["-inf", "inf", "1.5", "1e-7", "3e17", "x"]))
BOUNDS = st.one_of(SCORES, st.sampled_from(["(1", "(2", "(inf", "-inf", "+inf"]))
IDS = st.builds("{}-{}".format, st.integers(0, 9), st.integers(0, 2))
ENDS = st.one_of(IDS, st.sampled_from(["-", "+", "3", "(2-1"]))
GROUPS, CONSUMERS = st.sampled_from(["g", "h"]), st.sampled_from(["c", "d"])
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.recursive(
    st.one_of(NUMBERS.map(repr), st.sampled_from(['"x"', '"é\\n\\/\\u0001"', "true", "null", "{"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(st.tuples(st.sampled_from("pqr"), inner), max_size=4).map(
            lambda items: "{" + ",".join(f'"{name}":{text}' for name, text in items) + "}"
        ),
    ),
    max_leaves=6,
)
PATHS = st.sampled_from(
    ["$", ".", "$.p", ".p", "q", "$.p.q", ".q.r", "$[0]", "$.p[1]", ".q[-1]", '$["r"]', ".[0]"]
)
FLAGS = st.lists(st.sampled_from(["NX", "XX", "GT", "LT", "CH"]), max_size=2)


def shape(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map(
        list
    )


COMMANDS = st.one_of(
    shape("SET", KEYS, WORDS),
    shape("INCRBY", KEYS, SMALL),
    shape("DEL", KEYS),
    shape("RENAME", KEYS, KEYS),
    shape("COPY", KEYS, KEYS, "REPLACE"),
    shape("HSET", KEYS, WORDS, WORDS),
    shape("HINCRBY", KEYS, WORDS, SMALL),
    shape("HDEL", KEYS, WORDS),
    shape("SADD", KEYS, WORDS, WORDS),
    shape("SREM", KEYS, WORDS),
    st.builds(
        lambda key, flags, rest: ["ZADD", key, *flags, *rest],
        KEYS,
        FLAGS,
        st.tuples(SCORES, WORDS, SCORES, WORDS),
    ),
    shape("ZREM", KEYS, WORDS),
    shape("ZINCRBY", KEYS, SCORES, WORDS),
    shape("ZPOPMIN", KEYS, SMALL),
    shape("ZRANGE", KEYS, SMALL, SMALL, st.sampled_from(["REV", "WITHSCORES"])),
    shape("ZRANGE", KEYS, BOUNDS, BOUNDS, "BYSCORE", "LIMIT", SMALL, SMALL),
    shape("ZRANGE", KEYS, BOUNDS, BOUNDS, "BYSCORE", "REV"),
    shape("ZRANGEBYSCORE", KEYS, BOUNDS, BOUNDS, "WITHSCORES"),
    shape("ZCOUNT", KEYS, BOUNDS, BOUNDS),
    shape("JSON.SET", KEYS, "$", VALUES),
    shape("JSON.SET", KEYS, PATHS, VALUES),
    shape("JSON.SET", KEYS, PATHS, VALUES, st.sampled_from(["NX", "XX"])),
    shape("JSON.GET", KEYS, PATHS),
    shape("JSON.GET", KEYS, ".p", ".q"),
    shape("JSON.GET", KEYS, "$.p", ".q"),
    shape("JSON.MGET", KEYS, KEYS, PATHS),
    # Only different keys: a real server may crash on a path below one that was written before.
    shape("JSON.MSET", "a", PATHS, VALUES, st.sampled_from("bc"), PATHS, VALUES),
    shape("JSON.MSET", KEYS, "$.p", VALUES, KEYS, "$.q", VALUES),
    shape("JSON.DEL", KEYS, PATHS),
    shape("JSON.NUMINCRBY", KEYS, PATHS, NUMBERS.map(repr)),
    shape("JSON.TYPE", KEYS, PATHS),
    shape("JSON.ARRAPPEND", KEYS, PATHS, VALUES),
    shape("JSON.ARRLEN", KEYS, PATHS),
    shape("JSON.OBJKEYS", KEYS, PATHS),
    shape("JSON.STRLEN", KEYS, PATHS),
    shape("XADD", KEYS, IDS, "f", WORDS),
    shape("XADD", KEYS, "MAXLEN", SMALL, IDS, "f", WORDS),
    shape("XDEL", KEYS, IDS),
    shape("XTRIM", KEYS, "MAXLEN", SMALL),
    shape("XRANGE", KEYS, ENDS, ENDS),
    shape("XREVRANGE", KEYS, ENDS, ENDS, "COUNT", SMALL),
    shape("XREAD", "STREAMS", KEYS, IDS),
    shape("XGROUP", "CREATE", KEYS, GROUPS, st.sampled_from(["$", "0", "3-1"]), "MKSTREAM"),
    shape("XGROUP", "DESTROY", KEYS, GROUPS),
    shape("XGROUP", "DELCONSUMER", KEYS, GROUPS, CONSUMERS),
    shape("XINFO", "CONSUMERS", KEYS, GROUPS),
    shape("XREADGROUP", "GROUP", GROUPS, CONSUMERS, "COUNT", SMALL, "STREAMS", KEYS, ">"),
    shape("XREADGROUP", "GROUP", GROUPS, CONSUMERS, "STREAMS", KEYS, IDS),
    shape("XACK", KEYS, GROUPS, IDS),
    shape("XCLAIM", KEYS, GROUPS, CONSUMERS, "0", IDS, IDS),
    shape("XCLAIM", KEYS, GROUPS, CONSUMERS, "0", IDS, "FORCE", "JUSTID"),
    shape("XAUTOCLAIM", KEYS, GROUPS, CONSUMERS, "0", IDS, "COUNT", SMALL),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sequence=st.lists(COMMANDS, min_size=5, max_size=40))
def test_any_sequence_gives_the_same_replies_and_content(
    wire: Wire, sequence: list[list[str]]
) -> None:
    pair = Pair(wire)
    for command in sequence:
        pair.check(*command)
    pair.check_content()


@pytest.mark.parametrize(
    "command",
    [
        "JSON.GET j $..a",
        'JSON.GET j $["a\\"b"]',
        "JSON.MSET j $ {} j $.a 1",
        "JSON.GET j $[*]",
        "JSON.GET j .a[0:1]",
        "ZADD z INCR 1 a",
        "XINFO HELP",
    ],
)
def test_what_the_twin_cannot_do_is_a_loud_defect(pair: Pair, command: str) -> None:
    pair.on_twin("JSON.SET", "j", "$", "{}")
    with pytest.raises(Unsupported):
        pair.on_twin(*command.split(" "))
