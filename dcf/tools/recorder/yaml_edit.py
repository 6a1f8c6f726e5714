"""Adding to a YAML text without touching what stands in it, comments and layout included."""

from __future__ import annotations

import json
from typing import Any

import yaml

_STEP = 2


class _Plain(yaml.SafeDumper):
    """Writes every value out: no anchors, which two equal answers would get."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def written(value: Any) -> str:
    """``value`` as YAML in block style, members in their order."""
    return yaml.dump(value, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)


def with_member(text: str, path: tuple[str, ...], name: str, value: Any) -> str:
    """``text`` with a new member at the end of the mapping that ``path`` leads to.

    Raises ``KeyError`` where there is no mapping.
    """
    key, node = _find(text, path)
    if isinstance(node, yaml.MappingNode):
        if node.flow_style:
            member = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            return _in_flow(text, node, member)
        column = node.value[0][0].start_mark.column
        return _after_line(text, _last_line(node), _indented(written({name: value}), column))
    if _is_empty(node):
        return _under(text, key, node, written({name: value}))
    raise KeyError(path)


def with_element(text: str, path: tuple[str, ...], value: Any) -> str:
    """``text`` with a new element at the end of the list that ``path`` leads to.

    Raises ``KeyError`` where there is no list.
    """
    key, node = _find(text, path)
    if isinstance(node, yaml.SequenceNode):
        if node.flow_style:
            return _in_flow(text, node, json.dumps(value, ensure_ascii=False))
        column = node.start_mark.column
        return _after_line(text, _last_line(node), _indented(written([value]), column))
    if _is_empty(node):
        return _under(text, key, node, written([value]))
    raise KeyError(path)


def _find(text: str, path: tuple[str, ...]) -> tuple[yaml.Node | None, yaml.Node]:
    """The key (None at the top) and the value at ``path``."""
    key: yaml.Node | None = None
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None:
        raise KeyError(path)
    for step in path:
        if not isinstance(node, yaml.MappingNode):
            raise KeyError(path)
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == step:
                key, node = name, value
                break
        else:
            raise KeyError(path)
    return key, node


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _last_line(node: yaml.Node) -> int:
    """The line on which a node ends, without the comments and blank lines after it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        key, value = node.value[-1]
        if value.start_mark.index < key.start_mark.index:  # an alias: it stands beside its key
            return int(key.end_mark.line)
        return max(_last_line(key), _last_line(value))
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        lines = [_last_line(item) for item in node.value]
        return max(lines)
    end = node.end_mark
    return int(end.line if end.column or end.line == node.start_mark.line else end.line - 1)


def _after_line(text: str, line: int, block: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines and not lines[min(line, len(lines) - 1)].endswith("\n"):
        lines[min(line, len(lines) - 1)] += "\n"
    return "".join([*lines[: line + 1], block, *lines[line + 1 :]])


def _under(text: str, key: yaml.Node | None, node: yaml.Node, block: str) -> str:
    """``block`` as the value of a key that has none, or ``null``."""
    if key is None:
        raise KeyError(())
    if node.start_mark.index != node.end_mark.index:
        text = text[: node.start_mark.index] + text[node.end_mark.index :]
    column = key.start_mark.column + _STEP
    return _after_line(text, int(key.end_mark.line), _indented(block, column))


def _in_flow(text: str, node: yaml.Node, piece: str) -> str:
    """``piece`` before the bracket that closes ``node``."""
    close = node.end_mark.index - 1
    before = text[:close].rstrip()
    comma = "" if before.endswith(("[", "{", ",")) else ","
    return f"{before}{comma} {piece}{text[close:]}"


def _indented(block: str, column: int) -> str:
    return "".join(
        f"{' ' * column}{line}" if line.strip() else line
        for line in block.splitlines(keepends=True)
    )
