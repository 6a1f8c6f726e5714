"""What is written: SVG that is nothing but a picture, Mermaid that no name can break."""

from __future__ import annotations

import re
from itertools import product
from typing import Any
from xml.etree import ElementTree

import pytest
from diagram_machines import Definition, machines
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.diagram import Look, RunLook, arrange, read_chart, to_mermaid, to_svg
from dcf.diagram.lettering import width_of, wrap
from dcf.diagram.mermaid import escaped
from dcf.diagram.palette import DARK, LIGHT, Theme

_SVG = "{http://www.w3.org/2000/svg}"
_NASTY = [
    "</text><script>alert(1)</script>",
    '" onload="alert(1)',
    "&quot;<![CDATA[",
    "end",
    'a"]; n1 --> n2',
    "`markdown`",
    "1. first",
    "#59;#lt;",
    "%%{init: {}}%%",
    "zero\x00and\x1b[31m",
    "\ud800",
    "\u202eabc",
    "line\nbreak",
    "状態 😀",
]


def _machine(name: str) -> Definition:
    rule = {"Variable": f"$.{name}", "StringEquals": name, "Next": name}
    states = {
        name: {"Type": "Task", "Resource": name, "Catch": [{"ErrorEquals": [name], "Next": name}]},
        f"{name}2": {"Type": "Choice", "Choices": [rule], "Default": name},
    }
    return {"StartAt": f"{name}2", "States": states}


def _svg(definition: Any, run: RunLook | None = None) -> str:
    return to_svg(arrange(read_chart(definition), run), "t", run=run is not None)


def _check_svg(svg: str) -> None:
    svg.encode("utf-8")
    root = ElementTree.fromstring(svg)
    names = {element.tag.removeprefix(_SVG) for element in root.iter()}
    assert names <= {"svg", "title", "style", "rect", "g", "text", "path", "circle"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name}
    assert "url(" not in svg
    assert "@import" not in svg


@pytest.mark.parametrize("name", _NASTY)
def test_names_stay_text_in_svg(name: str) -> None:
    _check_svg(_svg(_machine(name)))


@given(definition=machines())
@settings(max_examples=40, deadline=None)
def test_every_svg_is_a_picture_and_nothing_else(definition: Definition) -> None:
    _check_svg(_svg(definition))


def test_the_whole_name_is_the_title_of_a_state_whose_name_is_too_long() -> None:
    name = "a very long name " * 12
    svg = _svg({"StartAt": name, "States": {name: {"Type": "Succeed"}}})
    titles = [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{_SVG}title")]
    assert any(title.startswith(name.strip()) for title in titles)
    assert "…" in svg


_LABEL = re.compile(r'"([^"]*)"')
_LINE = re.compile(
    r"  *(n\d+(\(\(\(|\(\(|\(\[|\(|\{\{)\"|subgraph n\d+\[\"|end$|direction (TB|LR)$"
    r"|n\d+ (-->|-\.->)(\|\"[^\"|]*\"\|)? n\d+$"
    r"|classDef k\w+ |class n[\dn,]+ k\w+$|linkStyle [\d,]+ )"
)


def _check_mermaid(text: str) -> None:
    first, *lines = text.rstrip("\n").split("\n")
    assert first in ("flowchart TB", "flowchart LR")
    depth = 0
    for line in lines:
        assert _LINE.match(line), line
        assert line.count('"') in (0, 2), line
        for label in _LABEL.findall(line):
            plain = re.sub(r"#\d+;|<br/>", "", label)
            assert not set(plain) & set('<>[]{}|"#;&`*~\\\n'), label
        depth += line.lstrip().startswith("subgraph") - (line.strip() == "end")
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize("name", _NASTY)
def test_no_name_breaks_mermaid(name: str) -> None:
    _check_mermaid(to_mermaid(read_chart(_machine(name))))


@given(definition=machines())
@settings(max_examples=60, deadline=None)
def test_mermaid_is_lines_of_known_form(definition: Definition) -> None:
    _check_mermaid(to_mermaid(read_chart(definition), direction="right"))


@given(st.text(max_size=50))
def test_a_label_says_the_name(name: str) -> None:
    said = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), escaped(name))
    for character in name:
        if character.isalnum():
            assert character in said


def test_errors_that_are_caught_have_a_style_of_their_own() -> None:
    states = {
        "A": {"Type": "Task", "Next": "B", "Catch": [{"ErrorEquals": ["E"], "Next": "C"}]},
        "B": {"Type": "Succeed"},
        "C": {"Type": "Fail"},
    }
    definition = {"StartAt": "A", "States": states}
    assert '-.->|"E"| ' in to_mermaid(read_chart(definition))
    svg = _svg(definition)
    assert svg.count('class="line l-catch"') == 1
    assert svg.count('class="chip c-catch"') == 1


def test_a_run_shows_on_the_picture() -> None:
    states = {"A": {"Type": "Task", "Next": "B"}, "B": {"Type": "Wait", "Seconds": 1, "End": True}}
    run = RunLook(
        "r",
        {("A",): Look("done", "1.5 s, 2 tries"), ("B",): Look("running")},
        frozenset({(("A",), "B", False)}),
    )
    definition = {"StartAt": "A", "States": states}
    svg = _svg(definition, run)
    assert "done · 1.5 s, 2 tries" in svg
    assert {"s-done", "s-running"} <= set(re.findall(r'class="box (s-\w+)', svg))
    # From the start to A and from A to B; B has not ended.
    assert svg.count('class="line l-next taken"') == 2
    mermaid = to_mermaid(read_chart(definition), run)
    assert "kdone" in mermaid
    assert "krunning" in mermaid


@given(st.text(max_size=200), st.integers(1, 4))
def test_lines_of_text_fit(text: str, lines: int) -> None:
    found = wrap(text, 13, 120, lines)
    assert 1 <= len(found) <= lines
    assert all(width_of(line, 13) <= 120 + 13 for line in found)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, two: str) -> float:
    low, high = sorted((_luminance(one), _luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_that_of_wcag(theme: Theme) -> None:
    looks = {**theme.kinds, **theme.statuses}
    grounds = [ground for ground, _ in looks.values()] + [theme.paper, theme.frame]
    for ground, text in product(grounds, (theme.ink, theme.muted)):
        assert _contrast(ground, text) >= 4.5, (ground, text)
    for ground, text in product((theme.paper,), (theme.error, theme.ink)):
        assert _contrast(ground, text) >= 4.5, (ground, text)
    for ground, line in looks.values():
        assert _contrast(theme.paper, line) >= 3, line
        assert _contrast(ground, line) >= 3, (ground, line)
    for line in (theme.line, theme.taken, theme.error):
        assert _contrast(theme.paper, line) >= 3
        assert _contrast(theme.frame, line) >= 3
