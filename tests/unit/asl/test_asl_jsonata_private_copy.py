"""A copy of a package for this project alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcf.asl.jsonata.private_copy import PrivateCopy


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose modules import each other, one of them late."""
    root = tmp_path / "shelf_for_copy"
    root.mkdir()
    (root / "__init__.py").write_text("from shelf_for_copy.book import TITLE, author\n")
    (root / "book.py").write_text(
        "import json\nfrom shelf_for_copy import page\nTITLE = json.dumps(page.COUNT)\n"
        "def author():\n    from shelf_for_copy import writer\n    return writer\n"
    )
    (root / "page.py").write_text("COUNT = 7\n")
    (root / "writer.py").write_text("NAME = 'Ada'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "shelf_for_copy"


def test_a_copy_holds_its_own_modules(package: str, request: pytest.FixtureRequest) -> None:
    name = "copied_shelf"
    request.addfinalizer(
        lambda: [sys.modules.pop(key) for key in list(sys.modules) if key.startswith(name)]
    )
    copy = PrivateCopy(package, name)

    shelf = copy.module(package)

    assert shelf.TITLE == "7"
    assert shelf.author() is copy.module(f"{package}.writer") is sys.modules[f"{name}.writer"]
    assert not [key for key in sys.modules if key.startswith(package)]
    public = __import__(f"{package}.page").page
    copy.module(f"{package}.page").COUNT = 8
    assert public.COUNT == 7


def test_a_package_that_is_not_there() -> None:
    with pytest.raises(ImportError, match="no module named not_there_at_all"):
        PrivateCopy("not_there_at_all", "copied").module("not_there_at_all")
