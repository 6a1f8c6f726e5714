"""One small change of a Python source: what `python -m benchmarks.mutants` makes and tests notice.

Changed is what runs inside functions. What runs when a module is imported belongs to no test, and
docstrings, annotations, imports and texts with fields (f-strings) are left alone.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """``old`` are whole lines from ``line`` (counted from 1), joined by newlines; ``new`` stands in
    their place."""

    line: int
    kind: str
    old: str
    new: str

    def locate(self, source: str) -> int | None:
        """The line where ``old`` begins in ``source``, which may have moved: the nearest such."""
        lines, old = source.split("\n"), self.old.split("\n")
        places = (at for at in range(len(lines)) if lines[at : at + len(old)] == old)
        return min((at + 1 for at in places), key=lambda at: abs(at - self.line), default=None)

    def apply(self, source: str) -> str:
        """The changed source. ValueError where ``old`` is not in it."""
        line = self.locate(source)
        if line is None:
            raise ValueError(f"line {self.line} is gone: {self.old!r}")
        lines = source.split("\n")
        lines[line - 1 : line - 1 + self.old.count("\n") + 1] = [self.new]
        return "\n".join(lines)

    def counts(self, source: str) -> bool:
        """Whether the changed source compiles and is another program."""
        try:
            changed = ast.parse(self.apply(source))
            compile(changed, "changed", "exec", dont_inherit=True)
        except SyntaxError:
            return False
        return ast.dump(changed) != ast.dump(ast.parse(source))


def mutations(source: str) -> dict[int, list[Mutation]]:
    """All changes that are tried, by the line on which what changes begins."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return dict(finder.found)


class _Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        # Columns of the syntax tree count bytes.
        self._lines = source.encode().split(b"\n")
        self._inside = 0
        self.found: defaultdict[int, list[Mutation]] = defaultdict(list)

    def _add(self, node: ast.expr | ast.stmt, kind: str, new: str) -> None:
        first, last = node.lineno, node.end_lineno
        if not self._inside or last is None or node.end_col_offset is None:
            return
        lines = self._lines[first - 1 : last]
        changed = lines[0][: node.col_offset] + new.encode() + lines[-1][node.end_col_offset :]
        old = b"\n".join(lines)
        self.found[first].append(Mutation(first, kind, old.decode(), changed.decode()))

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._inside += 1
        self._all(node.body)
        self._inside -= 1

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._all([node.body])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._all([node.value])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Left alone: before Python 3.12 what is inside has no place of its own."""

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for at, op in enumerate(node.ops):
            ops = [*node.ops[:at], _COMPARED[type(op)](), *node.ops[at + 1 :]]
            self._add(node, "comparison", _text(ast.Compare(node.left, ops, node.comparators)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "and/or", _text(ast.BoolOp(op, node.values)))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if (op := _CALCULATED.get(type(node.op))) is not None:
            self._add(node, "arithmetic", _text(ast.BinOp(node.left, op(), node.right)))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if (op := _CALCULATED.get(type(node.op))) is not None:
            changed = ast.AugAssign(node.target, op(), node.value)
            self._add(node, "arithmetic", ast.unparse(changed))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not removed", _text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool():
                self._add(node, "constant", repr(not node.value))
            case int() | float():
                self._add(node, "constant", repr(node.value + 1))
            case str():
                self._add(node, "constant", repr(node.value + "x"))

    def _condition(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            return
        self._add(node.test, "condition negated", _text(ast.UnaryOp(ast.Not(), node.test)))
        self.generic_visit(node)

    visit_If = visit_While = visit_IfExp = _condition

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._add(test, "condition negated", _text(ast.UnaryOp(ast.Not(), test)))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        # The first argument of cast() is a type.
        is_cast = isinstance(node.func, ast.Name) and node.func.id == "cast"
        arguments = node.args[1:] if is_cast else node.args
        self._all([node.func, *arguments, *node.keywords])

    def visit_Expr(self, node: ast.Expr) -> None:
        called = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(called, ast.Call):
            self._add(node, "call removed", "pass")
        if not isinstance(called, ast.Constant):
            self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and ast.unparse(node.value) != "None":
            self._add(node, "returns None", "return None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(node, "raise removed", "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "break/continue", "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break/continue", "break")


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
