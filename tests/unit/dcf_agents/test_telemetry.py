"""What dependencies report is off before they are loaded, and stays on for who asked for it.

That nothing is written or sent is shown by tests/soak/test_calls_home.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcf_agents.telemetry import SWITCHES, switch_off_telemetry

REPOSITORY = Path(__file__).parents[3]


def test_what_is_not_set_is_off_and_what_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SWITCHES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    switch_off_telemetry()
    assert {name: os.environ[name] for name in SWITCHES} == {**SWITCHES, "DO_NOT_TRACK": "0"}


def test_a_switch_that_is_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SWITCHES:
        monkeypatch.setenv(name, "")
    switch_off_telemetry()
    assert {name: os.environ[name] for name in SWITCHES} == SWITCHES


def test_nothing_else_in_the_code_sets_these_switches() -> None:
    places = [
        str(file.relative_to(REPOSITORY))
        for package in ("control_plane", "dcf", "dcf_agents")
        for file in (REPOSITORY / package).rglob("*.py")
        if any(name in file.read_text(encoding="utf-8") for name in SWITCHES)
    ]
    assert places == ["dcf_agents/telemetry.py"]


def test_the_embedder_that_would_keep_a_device_id_keeps_none(tmp_path: Path) -> None:
    code = "from dcf.search import embedder_named; embedder_named('minilm')"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-B", "-c", code], check=True, env=env, cwd=REPOSITORY)
    assert not list(tmp_path.iterdir())
