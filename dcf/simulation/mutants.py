"""Mutants of the control plane's scripts: each differs from the original in one small place.

They are made from the syntax tree, so that all are valid Lua: statements are deleted, conditions
negated or fixed, operands dropped, comparisons and numbers moved by one, fields confused. A call
that writes is skipped where its statement is not deleted, as in ``return save(path, ctl)``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tree_sitter import Node

from control_plane import script as scripts
from dcf.simulation.server import Sabotage
from dcf.simulation.writers import calls_one, parse, said, writers, writing_command

# It changes nothing: there is no state that it could break.
_READS_ONLY = frozenset({"list"})
_RECORDS = frozenset({"ctl", "REQ", "run", "lease", "join", "frame", "parent", "owner", "before"})
_MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "~=", "~=": "=="}
_TURNED = {"+": "-", "-": "+"}
# A target that nobody reads.
_NOWHERE = "REQ._"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file in ``control_plane/scripts``.

    ``name`` is ``FILE-DIGEST-KIND``: the digest is of the statement's text, so a name stays while
    lines move, and goes when what it says of the statement may no longer hold. ``lines`` (first and
    last, from 1) are those of the statement; ``old`` becomes ``new``.
    """

    name: str
    file: str
    lines: tuple[int, int]
    old: str
    new: str
    source: str

    @property
    def place(self) -> str:
        """For people: where to look."""
        return f"{self.file}.lua:{self.lines[0]}"

    @property
    def scripts(self) -> tuple[str, ...]:
        """Those that its file is a part of."""
        return _users(self.file)

    @property
    def original(self) -> str:
        """The text of its file without it."""
        return _text(self.file)

    def sabotage(self) -> Sabotage:
        """The change of each of its scripts."""
        return dict.fromkeys(
            self.scripts, lambda source: source.replace(self.original, self.source, 1)
        )


@dataclass(frozen=True, slots=True)
class _Change:
    kind: str
    node: Node
    new: str


@dataclass(frozen=True, slots=True)
class _Known:
    """What a file says as a whole: the fields of its records, and which functions write."""

    fields: dict[str, list[str]]
    writers: frozenset[str]


@cache
def mutants() -> tuple[Mutant, ...]:
    """All of them, by file and place; the same for the same scripts."""
    folder = resources.files("control_plane") / "scripts"
    files = sorted(entry.name.removesuffix(".lua") for entry in folder.iterdir())
    return tuple(
        one
        for file in files
        if file not in _READS_ONLY
        for one in mutate(file, _text(file), _before(file))
    )


def mutate(file: str, source: str, before: str = "") -> Iterator[Mutant]:
    """The mutants of ``source``, the text of ``file`` (without ``.lua``), in order. ``before`` is
    the text that stands before it in its scripts: functions that it calls."""
    text = source.encode()
    root = parse(source)
    known = _Known(_fields_of(root), writers(parse(f"{before}\n{source}")))
    twins = Counter[str]()
    for statement, head in _statements(root):
        words = " ".join(text[head[0] : head[1]].decode().split())
        twins[words] += 1
        # Statements with the same text differ by their order.
        digest = hashlib.sha256(f"{words}#{twins[words]}".encode()).hexdigest()[:6]
        kinds = Counter[str]()
        for change in _changes(statement, known):
            kinds[change.kind] += 1
            number = f"-{kinds[change.kind]}" if kinds[change.kind] > 1 else ""
            start, end = change.node.start_byte, change.node.end_byte
            changed = text[:start] + change.new.encode() + text[end:]
            lines = text.count(b"\n", 0, head[0]) + 1, text.count(b"\n", 0, head[1]) + 1
            yield Mutant(
                name=f"{file}-{digest}-{change.kind}{number}",
                file=file,
                lines=lines,
                old=text[start:end].decode(),
                new=change.new,
                source=changed.decode(),
            )


def _statements(node: Node) -> Iterator[tuple[Node, tuple[int, int]]]:
    """Every statement, with the bytes of what it says itself: of a branch or loop its head."""
    for child in node.named_children:
        if child.type in ("if_statement", "elseif_statement", "while_statement", "for_statement"):
            body = child.child_by_field_name("consequence") or child.child_by_field_name("body")
            end = body.start_byte if body else child.end_byte
            yield child, (child.start_byte, end)
        elif child.type == "repeat_statement":
            condition = child.child_by_field_name("condition")
            assert condition is not None
            yield child, (condition.start_byte, condition.end_byte)
        elif child.type in ("assignment_statement", "variable_declaration", "return_statement"):
            yield child, (child.start_byte, child.end_byte)
            if child.type == "variable_declaration":
                yield from _inner_functions(child)
                continue
        elif child.type == "function_call" and node.type in ("block", "chunk"):
            yield child, (child.start_byte, child.end_byte)
        yield from _statements(child)


def _inner_functions(node: Node) -> Iterator[tuple[Node, tuple[int, int]]]:
    """The statements of functions inside an expression."""
    for child in node.named_children:
        if child.type == "function_definition":
            yield from _statements(child)
        else:
            yield from _inner_functions(child)


def _changes(statement: Node, known: _Known) -> Iterator[_Change]:
    kind = statement.type
    condition = statement.child_by_field_name("condition")
    if condition is not None:
        yield from _conditions(statement, condition)
        yield from _expressions(condition, known)
        return
    if kind == "for_statement":
        clause = statement.child_by_field_name("clause")
        assert clause is not None
        yield from _expressions(clause, known)
        return
    if kind in ("assignment_statement", "function_call"):
        yield _Change("delete", statement, "do end")
    targets = next((one for one in statement.named_children if one.type == "variable_list"), None)
    if kind == "assignment_statement" and targets is not None and targets.named_child_count > 1:
        for target in targets.named_children:
            yield _Change("forget", target, _NOWHERE)
    yield from _expressions(statement, known)


def _conditions(statement: Node, condition: Node) -> Iterator[_Change]:
    """Fixed either way. A refusal of everything shows itself, so that one is turned around."""
    body = statement.child_by_field_name("consequence")
    first = body.named_children[0] if body and body.named_children else None
    if first is None or first.type == "return_statement":
        yield _Change("negate", condition, f"not ({said(condition)})")
    else:
        yield _Change("always", condition, "true")
    if statement.type in ("if_statement", "elseif_statement"):
        yield _Change("never", condition, "false")


def _expressions(node: Node, known: _Known) -> Iterator[_Change]:
    """The changes inside an expression, but not of functions in it: those are statements."""
    stack, confused = [node], False
    while stack:
        one = stack.pop()
        if one.type in ("function_definition", "block"):
            continue
        for change in _of_one(one, known):
            # One field of a statement: nearly every other shows itself as an error.
            if change.kind != "field" or not confused:
                yield change
            confused = confused or change.kind == "field"
        stack.extend(reversed(one.named_children))


def _of_one(node: Node, known: _Known) -> Iterator[_Change]:
    if node.type == "binary_expression":
        yield from _of_binary(node)
    elif node.type == "number" and said(node).isdigit():
        yield _Change("more", node, str(int(said(node)) + 1))
    elif node.type == "string" and said(node)[1:3] == "$.":
        yield _Change("place", node, f"{said(node)[:-1]}_{said(node)[-1]}")
    elif node.type == "function_call" and _is_skipped(node, known.writers):
        # A member may be asked of what it gives.
        yield _Change("skip", node, "({})" if _has_member_asked(node) else "false")
    elif node.type == "field" and node.children[0].type == "identifier":
        # What is omitted leaves its place between the commas.
        yield _Change("omit", node, "_ = nil")
    elif node.type == "dot_index_expression":
        table, field = node.named_children[:2]
        others = known.fields.get(said(table), [])
        if len(others) > 1:
            at = others.index(said(field))
            yield _Change("field", field, others[(at + 1) % len(others)])


def _has_member_asked(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "dot_index_expression"


def _is_skipped(call: Node, names: frozenset[str]) -> bool:
    """Whether it writes, and nothing else leaves it out."""
    parent = call.parent
    if parent is None or parent.type in ("block", "chunk"):
        return False
    if writing_command(call):
        return True
    return calls_one(call, names) and not _is_left_out(call, parent)


def _is_left_out(call: Node, parent: Node) -> bool:
    """An operand is dropped, a condition fixed, and a statement that assigns it deleted."""
    return (
        (parent.type == "binary_expression" and parent.children[1].type in ("and", "or"))
        or parent.child_by_field_name("condition") == call
        or (parent.type == "expression_list" and _is_deleted(parent.parent))
    )


def _is_deleted(statement: Node | None) -> bool:
    return (
        statement is not None
        and statement.type == "assignment_statement"
        and statement.parent is not None
        and statement.parent.type != "variable_declaration"
    )


def _of_binary(node: Node) -> Iterator[_Change]:
    left, sign, right = node.children[0], node.children[1], node.children[2]
    if sign.type in ("and", "or"):
        if not _chooses(node):
            yield _Change("left", node, f"({said(left)})")
        yield _Change("right", node, f"({said(right)})")
    elif sign.type in _MOVED:
        # A whole condition that is turned around is negated already.
        equality = sign.type in ("==", "~=")
        whole = node.parent is not None and node.parent.child_by_field_name("condition") == node
        if not (equality and whole):
            yield _Change("compare", sign, _MOVED[sign.type])
    elif sign.type in _TURNED and "number" not in (left.type, right.type):
        yield _Change("turn", sign, _TURNED[sign.type])


def _chooses(node: Node) -> bool:
    """Whether it is part of ``a and b or c`` or ``a or default``: only the ends are tried."""
    right = node.children[2]
    if node.children[1].type == "or":
        left = node.children[0]
        inner = left.type == "binary_expression" and left.children[1].type == "and"
        return inner or right.type in ("number", "string", "table_constructor", "nil")
    parent = node.parent
    return (
        parent is not None
        and parent.type == "binary_expression"
        and parent.children[1].type == "or"
        and parent.children[0] == node
    )


def _fields_of(root: Node) -> dict[str, list[str]]:
    """The fields of each record that this file speaks of, in order."""
    found: dict[str, set[str]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.named_children)
        if node.type == "dot_index_expression":
            table, field = node.named_children[:2]
            if said(table) in _RECORDS:
                found.setdefault(said(table), set()).add(said(field))
    return {table: sorted(names) for table, names in found.items()}


@cache
def _text(file: str) -> str:
    folder = resources.files("control_plane") / "scripts"
    return (folder / f"{file}.lua").read_text(encoding="utf-8")


@cache
def _users(file: str) -> tuple[str, ...]:
    """The scripts that this file is a part of."""
    folder = resources.files("control_plane") / "scripts"
    names = sorted(entry.name.removesuffix(".lua") for entry in folder.iterdir())
    bodies = [name for name in names if not name.endswith("prelude")]
    return tuple(name for name in bodies if _text(file) in scripts.load(name).source)


@cache
def _before(file: str) -> str:
    """What stands before this file in the scripts that it is a part of."""
    return scripts.load(_users(file)[0]).source.partition(_text(file))[0]
