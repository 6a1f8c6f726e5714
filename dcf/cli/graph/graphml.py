"""GraphML, as Gephi and yEd open it: http://graphml.graphdrawing.org/primer/graphml-primer.html."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TextIO
from xml.sax.saxutils import escape, quoteattr

# What XML 1.0 cannot hold, not even escaped (its production 2).
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TYPES = {bool: "boolean", int: "long", float: "double"}


@contextmanager
def graphml_to(out: TextIO) -> Iterator[GraphmlWriter]:
    """A writer of GraphML; it is in ``out`` after the block, and nothing if the block fails."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as body:
        writer = GraphmlWriter(body)
        yield writer
        writer.finish(out)


class GraphmlWriter:
    """The types of attributes stand before all nodes, and are known when the last edge has come:
    until then elements are in ``body``, a temporary file."""

    def __init__(self, body: TextIO) -> None:
        self._body = body
        self._types: dict[tuple[str, str], str] = {}

    def write(self, one: Mapping[str, Any]) -> None:
        """A node or an edge as ``exported`` gives it; what is no scalar becomes JSON."""
        properties = one["properties"]
        if "node" in one:
            head = f"<node id={_quoted(one['node'])}>"
            data = self._data("node", {**properties, "labels": ":".join(one["labels"])})
            self._body.write(f"{head}{data}</node>\n")
        else:
            head = f"<edge source={_quoted(one['from'])} target={_quoted(one['to'])}>"
            data = self._data("edge", {**properties, "type": one["edge"]})
            self._body.write(f"{head}{data}</edge>\n")

    def _data(self, of: Literal["node", "edge"], values: Mapping[str, Any]) -> str:
        return "".join(
            f"<data key={_quoted(self._key(of, name, value))}>{_escaped(value)}</data>"
            for name, value in values.items()
            if value is not None
        )

    def _key(self, of: str, name: str, value: Any) -> str:
        """The id of an attribute, the type of which holds ``value`` from now on."""
        type_ = _TYPES.get(type(value), "string")
        known = self._types.setdefault((of, name), type_)
        if known != type_:
            both_numbers = {known, type_} == {"long", "double"}
            self._types[of, name] = "double" if both_numbers else "string"
        return f"{of}.{name}"

    def finish(self, out: TextIO) -> None:
        """Write the whole document to ``out``."""
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for (of, name), type_ in self._types.items():
            id_, named = _quoted(f"{of}.{name}"), _quoted(name)
            out.write(f'<key id={id_} for="{of}" attr.name={named} attr.type="{type_}"/>\n')
        out.write('<graph edgedefault="directed">\n')
        self._body.seek(0)
        shutil.copyfileobj(self._body, out)
        out.write("</graph>\n</graphml>\n")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return _NO_CHARACTER.sub("\ufffd", value)


def _escaped(value: Any) -> str:
    # A parser reads a bare CR as a new line.
    return escape(_text(value), {"\r": "&#13;"})


def _quoted(text: Any) -> str:
    return quoteattr(_text(str(text)))
