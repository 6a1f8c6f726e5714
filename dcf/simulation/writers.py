"""Which functions of the control plane's scripts write: to Redis, or into a record they were given.

A function that calls one that writes does so too. What is read from the text errs on one side: a
function that only fills a record of its own by the help of another one counts as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter_lua
from tree_sitter import Language, Node, Parser

# Whatever is not among them writes.
_READING = frozenset(
    {"EXISTS", "GET", "HEXISTS", "HGET", "HGETALL", "HMGET", "JSON.GET", "SCARD", "TIME", "TYPE"}
    | {"XLEN", "XRANGE", "XREVRANGE", "ZCARD", "ZRANGE", "ZSCORE"}
)


def parse(source: str) -> Node:
    """The syntax tree of a script, or of a part of one."""
    return Parser(Language(tree_sitter_lua.language())).parse(source.encode()).root_node


def said(node: Node) -> str:
    """The text of ``node``."""
    assert node.text is not None
    return node.text.decode()


def writing_command(call: Node) -> bool:
    """Whether ``call`` asks Redis to change something."""
    name, arguments = call.child_by_field_name("name"), call.child_by_field_name("arguments")
    if name is None or arguments is None or said(name) not in ("redis.call", "redis.pcall"):
        return False
    return said(arguments.named_children[0]).strip("'") not in _READING


def writers(root: Node) -> frozenset[str]:
    """The names of the functions, and of the tables of functions, of a script that write. Of two
    with the same name the later one counts."""
    defined = dict(_definitions(root))
    found = frozenset(name for name, node in defined.items() if _writes_itself(node))
    while more := {
        name
        for name, node in defined.items()
        if name not in found and any(calls_one(call, found) for call in _calls(node))
    }:
        found |= more
    return found


def calls_one(call: Node, names: frozenset[str]) -> bool:
    """Whether ``call`` is one of a function, or of a member of a table, with one of ``names``."""
    called = call.child_by_field_name("name")
    return called is not None and _root(called) in names


def _definitions(root: Node) -> Iterator[tuple[str, Node]]:
    """The functions at the top, with those inside them, and variables that hold functions."""
    for node in root.named_children:
        if node.type == "function_declaration":
            name = node.child_by_field_name("name")
            assert name is not None
            yield said(name), node
        elif node.type == "variable_declaration" and _has_function(node):
            target = next(one for one in _within(node) if one.type == "identifier")
            yield said(target), node


def _has_function(node: Node) -> bool:
    return any(one.type == "function_definition" for one in _within(node))


def _writes_itself(function: Node) -> bool:
    own = _own(function)
    return any(writing_command(call) for call in _calls(function)) or any(
        _root(target) not in own for target in _fields_assigned(function)
    )


def _own(function: Node) -> set[str]:
    """The variables that a function makes itself: what is put into these is no change."""
    return {
        said(name)
        for node in _within(function)
        if node.type == "variable_declaration"
        for name in next(one for one in _within(node) if one.type == "variable_list").named_children
    }


def _fields_assigned(function: Node) -> Iterator[Node]:
    for node in _within(function):
        if node.type == "assignment_statement":
            yield from (one for one in node.named_children[0].named_children if _is_field(one))


def _is_field(node: Node) -> bool:
    return node.type in ("bracket_index_expression", "dot_index_expression")


def _root(node: Node) -> str:
    while _is_field(node):
        table = node.child_by_field_name("table")
        assert table is not None
        node = table
    return said(node)


def _calls(node: Node) -> Iterator[Node]:
    return (one for one in _within(node) if one.type == "function_call")


def _within(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(one.named_children))
