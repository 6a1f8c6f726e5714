"""A package with late exports is as one that imports them all, and loads what is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from control_plane import load_exports

NUMBER = count()

FACE = """
from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from NAME import units
    from NAME.paint import brush as best_brush
    from NAME.paint import colour
    from NAME.result import result
else:
    export_late(__name__)
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a package of four modules; nothing of it is loaded."""
    name = f"late_room_{next(NUMBER)}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(FACE.replace("NAME", name))
    (folder / "units.py").write_text("metre = 1")
    (folder / "paint.py").write_text("brush, colour = 'brush', 'red'")
    (folder / "result.py").write_text("def result(): return 'made'")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for loaded in [one for one in sys.modules if one.split(".")[0] == name]:
        del sys.modules[loaded]


def loaded(room: str) -> set[str]:
    return {name.removeprefix(f"{room}.") for name in sys.modules if name.startswith(f"{room}.")}


def test_entering_loads_nothing_and_a_name_loads_its_module(room: str) -> None:
    face = import_module(room)
    assert loaded(room) == set()

    assert face.colour == "red"

    assert loaded(room) == {"paint"}


def test_an_export_may_have_another_name_and_may_be_a_module(room: str) -> None:
    face = import_module(room)

    assert face.best_brush == "brush"
    assert face.units.metre == 1


@pytest.mark.parametrize("module_first", [True, False])
def test_an_export_goes_before_a_module_of_its_name(room: str, module_first: bool) -> None:
    face = import_module(room)
    if module_first:
        import_module(f"{room}.result")

    assert face.result() == "made"

    import_module(f"{room}.result")
    assert face.result() == "made"


def test_from_and_star_import_find_what_is_exported(room: str) -> None:
    names: dict[str, Any] = {}

    exec(f"from {room} import result, units", names)

    assert names["result"]() == "made"
    assert {"best_brush", "colour", "result", "units"} <= set(dir(import_module(room)))


def test_a_name_that_is_not_exported_is_refused_as_python_does(room: str) -> None:
    face = import_module(room)

    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'brush'"):
        _ = face.brush
    with pytest.raises(ImportError, match="cannot import name 'brush'"):
        exec(f"from {room} import brush", {})


def test_an_export_can_be_replaced(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    face = import_module(room)

    with monkeypatch.context() as patch:
        patch.setattr(face, "colour", "blue")
        assert face.colour == "blue"

    assert face.colour == "red"


def test_all_exports_can_be_loaded_at_once(room: str) -> None:
    load_exports(room)

    assert loaded(room) == {"paint", "result", "units"}
