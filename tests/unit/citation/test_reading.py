"""Reading a citation: only the one way to write it is read, and that one is the hint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.citation.any_citation import citations

from dcf.citation import Citation, InvalidCitation, parse_citation
from dcf.problem import Problem


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InvalidCitation) as error:
        parse_citation(text, "/related/0")
    found = error.value.problems
    assert found and all(one.path == "/related/0" and one.hint for one in found)
    return found


def codes(text: str) -> list[str]:
    return [one.code.removeprefix("citation-") for one in problems(text)]


@given(citations())
def test_what_is_written_is_read_again(citation: Citation) -> None:
    assert parse_citation(str(citation)) == citation


@given(st.text() | st.from_regex(r"dcf://[a-z]+(/[\w%.~ -]*){1,5}", fullmatch=True))
def test_what_is_read_is_written_again(text: str) -> None:
    try:
        citation = parse_citation(text)
    except InvalidCitation as error:
        assert error.problems
    else:
        assert str(citation) == text


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("dcf://code/src/a.py/line/4", "dcf://code/src%2Fa.py/line/4"),
        ("dcf://run/w/state/Map/0", "dcf://run/w/state/Map%2F0"),
        ("dcf://issue/a/b", "dcf://issue/a%2Fb"),
        ("dcf://issue/%c3%bc", "dcf://issue/%C3%BC"),
        ("dcf://issue/ü", "dcf://issue/%C3%BC"),
        ("dcf://issue/%41", "dcf://issue/A"),
        ("dcf://issue/50%", "dcf://issue/50%25"),
        ("dcf://issue/a b", "dcf://issue/a%20b"),
        ("dcf://issue/a?b#c", "dcf://issue/a%3Fb%23c"),
        ("dcf://issue/7/", "dcf://issue/7"),
        ("DCF://Issue/7", "dcf://issue/7"),
        ("dcf://thread/t/turn/03", "dcf://thread/t/turn/3"),
        ("dcf://thread/t/turn/%33", "dcf://thread/t/turn/3"),
        ("dcf://document/d/line/3-3", "dcf://document/d/line/3"),
    ],
)
def test_what_is_nearly_right_has_the_right_one_as_the_hint(text: str, right: str) -> None:
    assert {(one.code, one.hint) for one in problems(text)} == {
        ("citation-spelling", f"write {right}")
    }
    assert str(parse_citation(right)) == right


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["scheme"]),
        ("http://issue/7", ["scheme"]),
        ("dcf:issue/7", ["scheme"]),
        ("dcf://", ["kind"]),
        ("dcf://issues/7", ["kind"]),
        ("dcf://issue", ["form"]),
        ("dcf://issue/", ["form"]),
        ("dcf://agent/a", ["form"]),
        ("dcf://thread/t/turns/3", ["form"]),
        ("dcf://thread/t/turn/", ["form"]),
        ("dcf://issue/..", ["id-dots"]),
        ("dcf://thread//turn/3", ["id-empty"]),
        ("dcf://issue/%0A", ["id-control"]),
        ("dcf://issue/%FF", ["encoding"]),
        ("dcf://issue/%C0%AF", ["encoding"]),
        ("dcf://issue/%ED%A0%80", ["encoding"]),
        ("dcf://issue/\ud800", ["encoding"]),
        ("dcf://thread/t/turn/0", ["number"]),
        ("dcf://thread/t/turn/-1", ["number"]),
        ("dcf://thread/t/turn/3-4", ["number"]),
        ("dcf://thread/t/turn/\N{ARABIC-INDIC DIGIT THREE}", ["number"]),
        ("dcf://thread/t/turn/1000000000000000", ["number"]),
        ("dcf://document/d/line/9-3", ["range"]),
        ("dcf://document/d/line/1-2-3", ["number"]),
        ("dcf://issue/" + "a" * 2037, ["too-long"]),
        ("dcf://issue/" + "ü" * 340, ["too-long", "spelling"]),
        ("dcf://thread/%FF%ff/turn/x", ["encoding", "number", "spelling"]),
        ("dcf://issues/ü", ["kind", "spelling"]),
        ("dcf://thread/../turn/0", ["id-dots", "number"]),
    ],
)
def test_all_that_is_wrong_is_said(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_the_forms_of_a_kind_are_the_hint() -> None:
    (problem,) = problems("dcf://agent/a")
    assert problem.hint == "write dcf://agent/{id}/message/{id}, dcf://agent/{id}/block/{label}"
