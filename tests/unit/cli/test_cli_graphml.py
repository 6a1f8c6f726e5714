"""GraphML that any XML parser reads, whatever stands in the graph."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest

from dcf.cli.graph.graphml import graphml_to

_SPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}


def _written(*lines: dict[str, object]) -> ElementTree.Element:
    out = io.StringIO()
    with graphml_to(out) as graphml:
        for line in lines:
            graphml.write(line)
    return ElementTree.fromstring(out.getvalue())


def _node(id_: str, **properties: object) -> dict[str, object]:
    return {"node": id_, "labels": ["Entity"], "properties": properties}


def test_texts_are_escaped_and_what_xml_cannot_hold_is_replaced() -> None:
    root = _written(_node('a"<&>', name="<b> & 'c' \"d\"\r\n\x00\x1b\ud800 é 漢 \U0001f600"))
    [node] = root.findall("g:graph/g:node", _SPACE)
    assert node.attrib["id"] == 'a"<&>'
    found = {one.attrib["key"]: one.text for one in node.findall("g:data", _SPACE)}
    assert found["node.name"] == "<b> & 'c' \"d\"\r\n\ufffd\ufffd\ufffd é 漢 \U0001f600"


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, 2], "long"), ([1, 0.5], "double"), ([0.5, 1], "double"), ([True], "boolean"),
        ([True, 1], "string"), ([1, "x"], "string"), ([[1, 2]], "string"), ([None, 3], "long"),
    ],
)  # fmt: skip
def test_an_attribute_has_a_type_that_holds_all_its_values(
    values: list[object], type_: str
) -> None:
    root = _written(*(_node(f"n{at}", x=value) for at, value in enumerate(values)))
    types = {
        key.attrib["attr.name"]: key.attrib["attr.type"] for key in root.findall("g:key", _SPACE)
    }
    assert types["x"] == type_


def test_nothing_is_written_where_the_reading_fails() -> None:
    out = io.StringIO()
    with pytest.raises(KeyError), graphml_to(out) as graphml:
        graphml.write({"node": "a"})
    assert out.getvalue() == ""
