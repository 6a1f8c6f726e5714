"""Versions and ranges: the order of Semantic Versioning, the ranges of npm."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dcf.skills import SkillRef, is_range, newest, parse_ref, version_order

LONG = "9" * 5_000 + ".0.0"
"""More digits than Python reads as a number."""

VERSIONS = ["0.1.0", "0.1.9", "0.2.0", "1.0.0", "1.2.0", "1.2.9", "1.10.0", "2.0.0-rc.1", "2.0.0"]


# From npm's description of ranges (node-semver, "Advanced Range Syntax").
@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ("^1.2", "1.10.0"),
        ("^1.2.9", "1.10.0"),
        ("~1.2", "1.2.9"),
        ("~1.2.3", "1.2.9"),
        ("1.x", "1.10.0"),
        ("1.2.*", "1.2.9"),
        ("*", "2.0.0"),
        (">=1.0.0 <1.10.0", "1.2.9"),
        (">= 1.0 < 1.10", "1.2.9"),
        ("1.0.0 - 1.2", "1.2.9"),
        ("^0.1.0", "0.1.9"),
        ("^3 || ^1", "1.10.0"),
        ("1.2.0", "1.2.0"),
        ("=1.2.0", "1.2.0"),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
        ("<2.0.0", "1.10.0"),
        (">=2.0.0-rc.0 <2.0.0", "2.0.0-rc.1"),
        ("^3", None),
        ("latest", None),
    ],
)
def test_the_newest_version_in_a_range(wanted: str, version: str | None):
    assert newest(VERSIONS, wanted) == version


def test_a_pre_release_is_only_taken_by_who_names_one():
    assert newest(["1.0.0", "1.1.0-rc.1"], "^1.0.0") == "1.0.0"
    assert newest(["1.0.0"], "1.0.0-rc.1") is None


def test_what_is_no_version_lies_in_no_range():
    assert newest(["1.0.0-01"], "*") is None


@pytest.mark.parametrize("wanted", ["latest", "^", "1.2.3.4", "v", "1" * 300, ">", "^a"])
def test_what_is_no_range(wanted: str):
    assert not is_range(wanted)


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("crm.lookup", SkillRef("crm.lookup", "*")),
        ("crm.lookup@^1.2", SkillRef("crm.lookup", "^1.2")),
        (" skill://CRM.Lookup @ 1.x ", SkillRef("crm.lookup", "1.x")),
        ("skill.crm.lookup@1.0.0", SkillRef("skill.crm.lookup", "1.0.0")),
        ("", SkillRef("", "*")),
    ],
)
def test_a_reference_names_a_skill_and_a_range(text: str, ref: SkillRef):
    assert parse_ref(text) == ref


numbers = st.integers(0, 12)
releases = st.tuples(numbers, numbers, numbers).map(lambda parts: "{}.{}.{}".format(*parts))


@given(st.lists(releases, max_size=8), releases)
def test_a_caret_never_leaves_the_first_number_that_is_not_zero(versions: list[str], base: str):
    found = newest(versions, f"^{base}")
    if found is not None:
        first = next((n for n, part in enumerate(base.split(".")) if part != "0"), 2)
        assert found.split(".")[: first + 1] == base.split(".")[: first + 1]
        assert version_order(found) >= version_order(base)


@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=3))
@example("*", [LONG])
@example(LONG, [LONG])
@example(f">={LONG}", [])
def test_any_text_is_a_range_or_none(wanted: str, versions: list[str]):
    assert newest(["1.0.0", *versions], wanted) in ("1.0.0", *versions, None)
    assert is_range(wanted) in (True, False)


@given(st.text(max_size=30))
@example("@")
@example("crm.lookup@ ")
@example("crm.lookup")
def test_only_where_nothing_stands_behind_the_sign_is_no_version_in_it(text: str):
    wanted = parse_ref(text).wanted
    _, sign, behind = text.partition("@")
    assert wanted == (behind.strip() if sign else "*")
    if not wanted:
        assert newest(VERSIONS, wanted) is None


def test_a_version_too_long_to_be_compared_lies_in_no_range():
    assert newest(["1.0.0", LONG], "*") == "1.0.0"
    with pytest.raises(ValueError, match="at most 256 characters"):
        version_order(LONG)
