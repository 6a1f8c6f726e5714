"""Files with tokens that others than their owner can read are told of."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from dcf.cli.serve import token_of
from dcf.cli.settings import Settings


@pytest.mark.parametrize(("mode", "is_told"), [(0o600, False), (0o400, False), (0o644, True)])
def test_who_else_can_read_a_token_is_told_with_how_to_mend_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, is_told: bool
) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef-0123456789abcdef\n")
    file.chmod(mode)
    with caplog.at_level(logging.WARNING):
        assert token_of(file, Settings.from_env({})) == "0123456789abcdef-0123456789abcdef"
    told = f"(mode 644): chmod 600 {file}"
    assert (told in caplog.text) is is_told and "0123456789" not in caplog.text
