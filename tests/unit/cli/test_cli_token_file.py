"""The token that clients must send comes from a file of whatever kind, and is never half read."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.cli.serve import token_of
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_env({"DCF_HOME": str(tmp_path), "DCF_TOKEN": "from-the-environment"})


def test_a_file_wins_over_the_environment(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "token.txt"
    file.write_bytes(b"0123456789abcdef\n")
    assert token_of(file, settings) == "0123456789abcdef"
    assert token_of(None, settings) == "from-the-environment"


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", "grün".encode(), b"x" * 4_098])
def test_what_is_no_token_is_refused(tmp_path: Path, settings: Settings, content: bytes) -> None:
    file = tmp_path / "token.txt"
    file.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        token_of(file, settings)
    assert "holds no token" in str(caught.value.problems[0])


def test_a_device_that_never_ends_is_refused(settings: Settings) -> None:
    with pytest.raises(BadInput) as caught:
        token_of(Path("/dev/zero"), settings)
    assert "holds no token" in str(caught.value.problems[0])


def test_a_file_that_is_not_there_is_told(settings: Settings) -> None:
    with pytest.raises(BadInput) as caught:
        token_of(Path("/no/such"), settings)
    assert "cannot be read: No such file" in str(caught.value.problems[0])
