"""Where the data lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.embedded import data_home
from control_plane.embedded.home import runtime_folder


@pytest.mark.parametrize(
    ("env", "home"),
    [
        ({"DCF_HOME": "/data/dcf", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/data/dcf"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/dcf"),
        ({"HOME": "/h"}, "/h/.local/share/dcf"),
        ({"DCF_HOME": "", "HOME": "/h"}, "/h/.local/share/dcf"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/dcf"),
    ],
)
def test_the_first_setting_wins(env: dict[str, str], home: str) -> None:
    assert data_home(env) == Path(home)


def test_a_relative_home_is_made_absolute() -> None:
    assert data_home({"DCF_HOME": "here"}) == Path.cwd() / "here"


def test_a_runtime_folder_must_exist(tmp_path: Path) -> None:
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path / "gone")}) is None
    assert runtime_folder({}) is None
