"""A document as YAML text that our reader reads back as the same document."""

from __future__ import annotations

import json
from typing import Any

import yaml

from dcf.skills.authoring.marked_yaml import read_yaml


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, where YAML can; no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # lists below their key, as the other sources are


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(document: dict[str, Any]) -> str:
    """``document``, members in their order."""
    text = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2
    )
    # Some texts come back changed from a block (PyYAML's blocks know no carriage return at an end).
    return text if _reads_as(text, document) else _as_json(document)


def _reads_as(text: str, document: dict[str, Any]) -> bool:
    found, _ = read_yaml(text, "")
    return found is not None and _same(found.value, document)


def _same(one: Any, other: Any) -> bool:
    """Equality that tells ``1`` from ``1.0`` and ``true``."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _as_json(document: dict[str, Any]) -> str:
    """JSON is YAML; one line for each member at the top and in ``spec``."""
    text = json.dumps(document, indent=2, ensure_ascii=True)
    return f"{text}\n"
