"""Paths lead to one place, are read by a grammar of their own, and show as they are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.workspace import parse_path, show_path
from dcf.workspace.errors import BadPath

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
STEPS = st.lists(NAMES | st.integers(-(10**8), 10**8), max_size=8).map(tuple)


@pytest.mark.parametrize(
    "text, steps",
    [
        ("$", ()), ("", ()), (".", ()), ("  $  ", ()),
        ("$.a", ("a",)), ("a", ("a",)), (".a", ("a",)), ("a.b.c", ("a", "b", "c")),
        ('$.a.b[0]["x y"]', ("a", "b", 0, "x y")), ("$['a']['b c']", ("a", "b c")),
        ("[0].a", (0, "a")), ("$[-1]", (-1,)), ("a[ 2 ]", ("a", 2)),
        ('$["a.b"]', ("a.b",)), ('$["a\\"b"]', ('a"b',)), ("$['it\\'s']", ("it's",)),
        ("$['say \"x\"']", ('say "x"',)), ('$["\\u00e4"]', ("ä",)), ("$.größe", ("größe",)),
        ("$.user:1/x-y", ("user:1/x-y",)), ('$[""]', ("",)), ("a.0", ("a", "0")),
        ("$a", ("$a",)), ("$.$.a", ("$", "a")),
    ],
)  # fmt: skip
def test_a_path_is_its_steps(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize(
    "text",
    [
        "$..a", "a..b", "$.", "a.", "$.*", "$[*]", "a[1:2]", "a[0,1]", "$[?(@.x>1)]", "$[?@.x]",
        "a[", "a]", "a[0", "a[b]", "a['x]", 'a["x\']', "a[0]b", "$.a b", "$.a\nb", "a.'b'",
        '$["\\x"]', '$["\\ud800"]', "a\x00b", "$.a\\b", "a[99999999999]", "a[1.5]", "a[+1]",
        "$.(a)", "$[@]", "..", "[]", "$[]", "a" * 3000, "a" + ".b" * 150,
    ],
    ids=lambda text: repr(text)[:20],
)  # fmt: skip
def test_what_leads_to_no_single_place_is_refused(text: str) -> None:
    with pytest.raises(BadPath):
        parse_path(text)


@given(STEPS)
def test_a_path_that_is_shown_reads_as_itself(steps: tuple[str | int, ...]) -> None:
    assert parse_path(show_path(steps)) == steps


@given(st.text(alphabet=st.sampled_from("$.[]'\"\\ab01 -*?@(),:\x00ä\ud800"), max_size=30))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        steps = parse_path(text)
    except BadPath:
        return
    assert parse_path(show_path(steps)) == steps
