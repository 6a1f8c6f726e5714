"""YAML text becomes JSON values that know their lines, or problems; nothing is ever raised."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from campaigns import campaign, settled
from hypothesis import given
from hypothesis import strategies as st

from dcf.skills.authoring import marked_yaml
from dcf.skills.authoring.marked_yaml import MAX_DEPTH, read_yaml

pytestmark = settled("dcf/problem.py", "dcf/skills", "requirements/dev.txt")


@pytest.fixture(autouse=True, scope="module", params=["libyaml", "PyYAML"])
def parser(request: pytest.FixtureRequest) -> Iterator[str]:
    """All rules hold with libyaml, and in an installation that has none."""
    assert marked_yaml._Quick is not None, "this installation has no libyaml"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "PyYAML":
            patch.setattr(marked_yaml, "_Quick", None)
        yield request.param


def codes(text: str) -> list[str]:
    return [problem.code for problem in read_yaml(text, "x.yaml")[1]]


def test_every_member_and_element_knows_its_line_and_column():
    document, problems = read_yaml("a: 1\nb:\n  - x\n  - c/d: 2\n", "x.yaml")
    assert problems == []
    assert document is not None
    assert document.value == {"a": 1, "b": ["x", {"c/d": 2}]}
    assert document.marks["/a"] == (1, 1)
    assert document.marks["/b/0"] == (3, 5)
    assert document.marks["/b/1/c~1d"] == (4, 5)


def test_a_syntax_error_names_file_line_and_column():
    document, [problem] = read_yaml("a: 1\nb: [1, 2\nc: 3\n", "deep/x.yaml")
    assert document is None
    assert (problem.code, problem.file, problem.line) == ("SKILL_YAML_SYNTAX", "deep/x.yaml", 3)
    assert problem.column is not None
    assert problem.hint


def test_duplicate_keys_are_refused_with_both_lines():
    _, [problem] = read_yaml("a: 1\nb: 2\na: 3\n", "x.yaml")
    assert problem.code == "SKILL_YAML_DUPLICATE_KEY"
    assert problem.line == 3
    assert "line 1" in problem.message


def test_all_duplicates_of_a_file_are_reported_at_once():
    assert codes("a: 1\na: 2\nb: {c: 1, c: 2}\n") == ["SKILL_YAML_DUPLICATE_KEY"] * 2


def test_a_key_beside_a_merge_may_override_it():
    document, problems = read_yaml("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n", "x.yaml")
    assert problems == []
    assert document is not None
    assert document.value["own"] == {"x": 1, "y": 3}
    assert document.marks["/own/y"] == (4, 3)


def test_aliases_that_multiply_are_bounded():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert codes("\n".join(lines)) == ["SKILL_YAML_LIMIT"]


def test_merges_that_multiply_are_bounded():
    lines = ["m0: &m0 {k: 1}"]
    lines += [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    assert codes("\n".join(lines)) == ["SKILL_YAML_LIMIT"]


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_an_alias_inside_itself_is_refused(text: str):
    assert "SKILL_YAML_RECURSION" in codes(text)


def test_nesting_is_bounded_before_anything_recurses():
    assert codes("[" * 100_000) == ["SKILL_YAML_LIMIT"]
    assert codes("[" * MAX_DEPTH + "]" * MAX_DEPTH) == []


@pytest.mark.parametrize("each", [1, 60])
def test_nesting_through_aliases_is_bounded_too(each: int):
    def chain(levels: int) -> str:
        rest = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels))
        return "\n".join(["a0: &a0 [1]", *rest])

    assert codes(chain(2)) == []
    assert codes(chain(440)) == ["SKILL_YAML_LIMIT"]
    if each == 1:
        # The mapping of the names is one level.
        assert codes(chain(MAX_DEPTH - 1)) == []
        assert codes(chain(MAX_DEPTH)) == ["SKILL_YAML_LIMIT"]


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [ls]", "!mine x", "!!set {a}"])
def test_tags_beyond_json_are_refused(tag: str):
    assert codes(f"a: {tag}") == ["SKILL_YAML_TAG"]


@pytest.mark.parametrize("word", ["yes", "No", "on", "OFF"])
def test_yaml_1_1_booleans_are_read_as_such_with_a_warning(word: str):
    document, [problem] = read_yaml(f"a: {word}", "x.yaml")
    assert document is not None
    assert document.value == {"a": word.lower() in ("yes", "on")}
    assert (problem.code, problem.severity) == ("SKILL_YAML_AMBIGUOUS", "warning")


@pytest.mark.parametrize("text", ["0123", "12:30:00", "1_000", "0x1f", ".inf", ".nan", "+5"])
def test_numbers_that_surprise_must_be_quoted(text: str):
    assert codes(f"a: {text}") == ["SKILL_YAML_VALUE"]
    assert read_yaml(f'a: "{text}"', "x.yaml")[0].value == {"a": text}  # type: ignore[union-attr]


def test_a_number_with_thousands_of_digits_is_a_problem_and_no_exception():
    assert codes(f"a: {'9' * 5000}") == ["SKILL_YAML_VALUE"]


def test_dates_stay_text():
    assert read_yaml("a: 2024-01-31", "x.yaml")[0].value == {"a": "2024-01-31"}  # type: ignore[union-attr]


def test_half_a_surrogate_pair_is_refused_because_no_file_can_hold_it():
    assert codes('a: "\\ud800"') == ["SKILL_YAML_VALUE"]


@pytest.mark.parametrize("key", ["404", "true", "null", "[a]", "1.5"])
def test_keys_are_text(key: str):
    assert codes(f"{{? {key} : 1}}") == ["SKILL_YAML_KEY"]


def test_one_file_holds_one_document():
    assert codes("a: 1\n---\nb: 2\n") == ["SKILL_YAML_DOCUMENTS"]
    assert codes("# nothing\n") == ["SKILL_YAML_EMPTY"]


def test_escapes_that_name_no_character_are_a_problem():
    assert codes('a: "\\UFFFFFFFF"') == ["SKILL_YAML_SYNTAX"]


YAMLISH = st.text(st.sampled_from(list("ab:-[]{}&*!|>'\"#%@,? \n\t\\0129.~<")), max_size=60)


@given(YAMLISH | st.text(max_size=60))
def test_any_text_gives_a_document_or_problems(text: str):
    document, problems = read_yaml(text, "x.yaml")
    assert (document is None) == any(problem.is_error for problem in problems)
    assert all(problem.file == "x.yaml" and problem.line for problem in problems)


# A number such as 1e-07, without a dot, is text in YAML 1.1; DEL is not allowed in YAML at all.
NUMBERS = st.floats(-1e9, 1e9).filter(lambda number: "e" not in repr(number))
TEXT = st.text().filter(lambda text: "\x7f" not in text)
# YAML 1.1 wants a key that stands before its colon to take at most 1,024 characters.
KEYS = TEXT.filter(lambda text: len(json.dumps(text)) < 1000)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_text_is_read_as_the_same_value(value: object):
    document, problems = read_yaml(json.dumps({"v": value}), "x.yaml")
    assert problems == []
    assert document is not None
    assert document.value == {"v": value}


PIECES = st.sampled_from(
    [
        *("a", "b: ", ": ", "- ", "\n", "\n  ", " ", ", ", "[", "]", "{", "}"),
        *('"', "'", "|\n", ">-\n"),
        *("&a ", "*a", " #", "...\n", "%", "\\n", "\\/", "é", "\U0001f600", "yes", "0x1", "1", "~"),
    ]
)  # fmt: skip


@campaign(shares=20)
@given(text=st.lists(PIECES, max_size=9).map("".join))
def test_both_parsers_read_a_text_as_the_same(text: str, share: int) -> None:
    """But for tabs, tags, rare line breaks, `---` and `? `, in which libyaml is less strict."""
    read = read_yaml(text, "x.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marked_yaml, "_Quick", None)
        assert read_yaml(text, "x.yaml") == read
