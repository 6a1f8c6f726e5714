"""Calls of JSONata's functions with formats: dates, numbers, regular expressions, texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

_COMPONENTS = "YMDdFWwXxHhPmsfZzCE"
_PRESENTATIONS = (
    "",
    "",
    "",
    "1",
    "01",
    "001",
    "0001",
    "i",
    "I",
    "w",
    "W",
    "Ww",
    "1o",
    "wo",
    "N",
    "n",
)
_PRESENTATIONS += (
    "Nn",
    "a",
    "A",
    ",2",
    ",4",
    ",*-3",
    ",2-2",
    "01:01",
    "0",
    "00t",
    "t",
    "#1",
    "9,999",
)
_BETWEEN = ("-", "/", " ", "T", ":", ", ", "[[", "]]", "of ")
_ZONES = ("+0100", "-0500", "+0000", "+0530", "+1245", "0100", "+01:00", "Z", "")
_DATES = (
    "2024-02-29T12:30:05.123Z",
    "1969-07-20",
    "2021",
    "1999-12-31T23:59:59+02:00",
    "x",
    "2020-1-1",
)
_DATES += (
    "20240229",
    "29/02/2024",
    "Thursday 29 February 2024",
    "twelve",
    "MMXXIV",
    "2024-060",
    "3pm",
)
_PICTURES = (
    "#,##0.00",
    "0",
    "00.000",
    "#.##e0",
    "0.0e00",
    "#%",
    "0.0‰",
    "#,###.##;(#)",
    "###,##,#",
    "x0y",
)
_PICTURES += (
    "0.0.0",
    "",
    "#0#",
    "1",
    "0e",
    ",0",
    "#.",
    ".0",
    "##0.0##e00",
    "٠",
    "0%0",
    "'a'0",
    "$#,##0.00",
)
_INTEGERS = (
    "0",
    "000",
    "#,##0",
    "1",
    "01",
    "w",
    "W",
    "Ww",
    "i",
    "I",
    "a",
    "A",
    "1;o",
    "w;o",
    "Ww;o",
    "w;o(-er)",
)
_INTEGERS += ("#,##0;o", "#.##0", "٠", "#;##0", "", "x", "00,0", "###", "1;c", "a;o", "１")
_PATTERNS = (
    "a",
    "b+",
    "(a)(b)?",
    "[a-c]",
    "^a",
    "c$",
    "(?:a|b)c",
    "a.c",
    r"\d+",
    r"(\w)(\d)",
    r"\s*",
    "",
)
_PATTERNS += (
    "(a|b)*",
    r"\bx",
    "[^a]",
    "(a)|(b)",
    "ä",
    r"😀",
    ".",
    r"(?=a)",
    r"(?<n>a)",
    r"\.",
    r"(a)\1",
    "a{2}",
)
_REPLACEMENTS = ("x", "$0", "$1", "$2", "$$", "[$1$2]", "$10", "$12", "$a", "$", "\\\\1", "")
_SUBJECTS = (
    "abcabc",
    "aab12 c3",
    "ABC",
    "",
    "a\nb\nc",
    "ää😀x",
    "x😀y😀",
    "a.b.c",
    "2024-02-29",
    " a  b ",
)
_FLOATS = (
    "0",
    "1",
    "-1",
    "0.5",
    "-0.5",
    "1234.5678",
    "-1234567.891",
    "1e21",
    "1e-7",
    "0.1+0.2",
    "1/3",
)
_FLOATS += (
    "1e15",
    "123456789012345678",
    "2.5",
    "3.5",
    "-2.5",
    "1e100",
    "5e-324",
    "0.000001",
    "1e20",
    "12.345",
)


def call(rng: Random) -> str:
    """One call, its arguments mostly of the kind that it takes."""
    return rng.choice(_MAKERS)(rng)


def _text(rng: Random, *kinds: tuple[str, ...]) -> str:
    return json.dumps(rng.choice([text for kind in kinds for text in kind]), ensure_ascii=False)


def _date_picture(rng: Random) -> str:
    parts = []
    for _ in range(rng.randint(1, 4)):
        parts.append(f"[{rng.choice(_COMPONENTS)}{rng.choice(_PRESENTATIONS)}]")
        if rng.random() < 0.7:
            parts.append(rng.choice(_BETWEEN))
    return json.dumps("".join(parts))


def _moment(rng: Random) -> str:
    return str(rng.randrange(-2_000_000_000_000, 4_000_000_000_000))


def _from_millis(rng: Random) -> str:
    zone = f", {_text(rng, _ZONES)}" if rng.random() < 0.4 else ""
    return f"$fromMillis({_moment(rng)}, {_date_picture(rng)}{zone})"


def _there_and_back(rng: Random) -> str:
    picture = _date_picture(rng)
    return f"$toMillis($fromMillis({_moment(rng)}, {picture}), {picture})"


def _to_millis(rng: Random) -> str:
    picture = f", {_date_picture(rng)}" if rng.random() < 0.5 else ""
    return f"$toMillis({_text(rng, _DATES)}{picture})"


def _format_number(rng: Random) -> str:
    options = ', {"decimal-separator": ",", "grouping-separator": "."}'
    return (
        f"$formatNumber({rng.choice(_FLOATS)}, {_text(rng, _PICTURES)}"
        f"{options if rng.random() < 0.2 else ''})"
    )


def _format_integer(rng: Random) -> str:
    number = rng.choice((str(rng.randrange(5000)), str(-rng.randrange(99)), *_FLOATS))
    return f"$formatInteger({number}, {_text(rng, _INTEGERS)})"


def _parse_integer(rng: Random) -> str:
    picture = _text(rng, _INTEGERS)
    if rng.random() < 0.7:
        return f"$parseInteger($formatInteger({rng.randrange(5000)}, {picture}), {picture})"
    numbers = ("12", "1,234", "twelve", "xii")
    return f"$parseInteger({_text(rng, _SUBJECTS, _DATES, numbers)}, {picture})"


def _regex(rng: Random) -> str:
    pattern = rng.choice([pattern for pattern in _PATTERNS if pattern])
    return f"/{pattern}/{rng.choice(('', '', '', 'i', 'm', 'im'))}"


def _matching(rng: Random) -> str:
    subject, regex = _text(rng, _SUBJECTS), _regex(rng)
    name = rng.choice(("contains", "match", "split", "replace", "replace", "function"))
    limit = rng.choice(("", "", ", 1", ", 0", ", 2", ", -1", ", 1.5"))
    if name == "contains":
        return f"$contains({subject}, {regex})"
    if name == "replace":
        return f"$replace({subject}, {regex}, {_text(rng, _REPLACEMENTS)}{limit})"
    if name == "function":
        body = rng.choice(("$m.match & '!'", "$m.groups[0]", "$string($m.index)", "1"))
        return f"$replace({subject}, {regex}, function($m) {{ {body} }}{limit})"
    return f"${name}({subject}, {regex}{limit})"


def _cutting(rng: Random) -> str:
    subject, part = _text(rng, _SUBJECTS), _text(rng, ("a", "b", "😀", "", "ä", " "))
    number = rng.choice(("0", "1", "2", "-1", "-2", "1.5", "9", "-9"))
    return rng.choice(
        (
            f"$length({subject})",
            f"$substring({subject}, {number})",
            f"$substring({subject}, {number}, {rng.choice(('0', '1', '2', '-1', '9'))})",
            f"$pad({subject}, {rng.choice(('8', '-8', '3', '0'))}, {part})",
            f"$split({subject}, {part})",
            f"$split({subject}, {part}, {number})",
            f"$replace({subject}, {part}, {_text(rng, _REPLACEMENTS)})",
            f"$substringBefore({subject}, {part})",
            f"$substringAfter({subject}, {part})",
        )
    )


def _string(rng: Random) -> str:
    value = rng.choice(
        (
            *(
                *_FLOATS,
                "$sum",
                "function($x) { $x }",
                "[1, $sum]",
                "{'a': [1.10, {'b': $uppercase}]}",
            ),
            *("[]", "{}", "[[], {}]", "null", "true", '"a\\nb"', '"\\u0007"', "/a/", "[0.1 + 0.2]"),
        )
    )
    return f"$string({value}{rng.choice(('', ', true', ', false'))})"


def _number(rng: Random) -> str:
    texts = (
        "1",
        "-1.5e3",
        "0x1F",
        "0b11",
        "0o17",
        "1e400",
        " 1",
        "",
        "abc",
        "1.",
        ".5",
        "Infinity",
        "010",
    )
    value, other = rng.choice(_FLOATS), rng.choice(_FLOATS)
    return rng.choice(
        (
            f"$number({_text(rng, texts)})",
            f"$round({value}, {rng.choice(('0', '1', '2', '-2', '15'))})",
            f"$power({value}, {rng.choice(('2', '0.5', '-1', '0', '400'))})",
            f"$formatBase({value}, {rng.choice(('2', '16', '36', '37', '1', '2.5'))})",
            f"{value} {rng.choice('+-*/%')} {other}",
            f"$sqrt({value})",
            f"$floor({value}) & ',' & $ceil({value}) & ',' & $abs({value})",
        )
    )


_MAKERS: tuple[Callable[[Random], str], ...]
_MAKERS = (_from_millis, _from_millis, _there_and_back, _to_millis, _format_number, _format_number)
_MAKERS += (_format_integer, _parse_integer, _matching, _matching, _matching, _cutting, _cutting)
_MAKERS += (_string, _number)
