"""What comes with DCF is found in the clone and in a wheel, and hints name what is really there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcf.cli.trouble import explain_error
from dcf_agents import shipped as room
from dcf_agents.installation import reinstall_command
from dcf_agents.shipped import EXAMPLES, NotShipped, docs_page, shipped

REPOSITORY = Path(__file__).parents[3]
# These write the pages of the documentation, whose links are to each other.
_WRITERS = REPOSITORY / "dcf" / "cli" / "reference_pages"


def test_in_a_clone_it_is_what_lies_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [shipped(name) for name in EXAMPLES] == [REPOSITORY / name for name in EXAMPLES]
    monkeypatch.chdir(REPOSITORY)
    assert docs_page("how-to/models.md") == "docs/how-to/models.md"
    monkeypatch.chdir(tmp_path)
    assert docs_page("how-to/models.md") == str(REPOSITORY / "docs/how-to/models.md")


def test_elsewhere_it_is_the_copy_in_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(room, "clone", lambda: None)
    monkeypatch.setattr(room, "_IN_THE_WHEEL", tmp_path)
    (tmp_path / "prompts").mkdir()
    assert shipped("prompts") == tmp_path / "prompts"
    with pytest.raises(NotShipped, match="workflows is not there") as missing:
        shipped("workflows")
    trouble = explain_error(missing.value)
    assert trouble is not None
    assert (trouble.exit_code, trouble.hint) == (3, reinstall_command())


def _strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every text of a module that is no docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node


def test_hints_name_pages_by_one_function_and_the_pages_are_there() -> None:
    by_hand, absent, named = [], [], 0
    for package in ("control_plane", "dcf"):
        for file in (REPOSITORY / package).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if file.is_relative_to(_WRITERS) or "docs" not in text:
                continue
            tree = ast.parse(text)
            by_hand += [
                f"{file}:{one.lineno}"
                for one in _strings(tree)
                # Pages of others have whole addresses.
                if "docs/" in one.value and not one.value.startswith("https://")
            ]
            for call in ast.walk(tree):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "docs_page":
                    [page] = call.args
                    if isinstance(page, ast.Constant):
                        named += 1
                        absent += [page.value] * (not (REPOSITORY / "docs" / page.value).is_file())
    assert not by_hand and not absent
    assert named > 5, "the search finds nothing"
