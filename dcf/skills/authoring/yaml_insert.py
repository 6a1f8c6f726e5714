"""Adding an entry to a YAML file of the author, everything else of the text left as it is."""

from __future__ import annotations

import json
from typing import Any

import yaml


def insert_item(text: str, key: str, item: str) -> str | None:
    """``text`` with ``item`` at the end of the list under the top-level ``key``.

    None when that cannot be done without touching more of the text.
    """
    node = _value_of(text, key)
    if node is None:
        return None
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        line = " " * node.start_mark.column + f"- {item}"
        return _proved(_after_line(text, _last_line(node), line), text, key, [item])
    if isinstance(node, yaml.SequenceNode):
        return _proved(_into_flow(text, node, item), text, key, [item])
    if _is_empty(node):
        return _proved(_after_line(text, node.start_mark.line, f"  - {item}"), text, key, [item])
    return None


def insert_entry(text: str, key: str, name: str, value: dict[str, Any]) -> str | None:
    """``text`` with ``name: value`` at the end of the mapping under the top-level ``key``; None as
    with ``insert_item``."""
    node = _value_of(text, key)
    if node is None:
        return None
    added = {name: value}
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        block = _block(name, value, node.start_mark.column)
        return _proved(_after_line(text, _last_line(node), block), text, key, added)
    if isinstance(node, yaml.MappingNode) and node.value:
        flow = f"{name}: {json.dumps(value, ensure_ascii=False)}"
        return _proved(_into_flow(text, node, flow), text, key, added)
    if isinstance(node, yaml.MappingNode):
        start, end = node.start_mark.index, node.end_mark.index
        line_end = text.find("\n", end)
        rest = text[end:] if line_end < 0 else text[end:line_end]
        tail = "" if line_end < 0 else text[line_end:]
        head = text[:start].rstrip(" ") + rest.rstrip()
        return _proved(f"{head}\n{_block(name, value, 2)}{tail}", text, key, added)
    if _is_empty(node):
        block = _block(name, value, 2)
        return _proved(_after_line(text, node.start_mark.line, block), text, key, added)
    return None


def _value_of(text: str, key: str) -> yaml.Node | None:
    try:
        root = yaml.SafeLoader(text).get_single_node()
    except yaml.YAMLError:
        return None
    if not isinstance(root, yaml.MappingNode):
        return None
    return next((value for name, value in root.value if name.value == key), None)


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == ""


def _last_line(node: yaml.Node) -> int:
    """The last line, from 0, on which something of ``node`` stands: a block ends only where the
    next begins, comments and blank lines between them included."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return max(_last_line(part) for pair in node.value for part in pair)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return max(_last_line(part) for part in node.value)
    end = node.end_mark
    return int(end.line) - 1 if end.column == 0 and end.line > node.start_mark.line else end.line


def _after_line(text: str, line: int, added: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines[: line + 1], f"{added}\n", *lines[line + 1 :]])


def _into_flow(text: str, node: yaml.CollectionNode, added: str) -> str:
    end = node.end_mark.index - 1
    before = text[:end].rstrip()
    comma = "" if before.endswith(("[", "{", ",")) else ","
    blank = "" if before.endswith(("[", "{")) else " "
    return f"{before}{comma}{blank}{added}{text[end:]}"


def _block(name: str, value: dict[str, Any], indent: int) -> str:
    lines = [f"{name}:", *(f"  {key}: {_scalar(item)}" for key, item in value.items())]
    return "\n".join(" " * indent + line for line in lines)


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _proved(changed: str, text: str, key: str, added: list[str] | dict[str, Any]) -> str | None:
    """``changed``, if it reads as the old document with only ``added`` more."""
    try:
        before, after = yaml.safe_load(text), yaml.safe_load(changed)
    except yaml.YAMLError:
        return None
    old = before.get(key)
    wanted = [*(old or []), *added] if isinstance(added, list) else {**(old or {}), **added}
    return changed if after == {**before, key: wanted} else None
