"""``dcf stub record``: the file that it would add to."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from dcf.cli.settings import Settings
from dcf.cli.stub_record import RecordOrder, run_recorder
from dcf.tools import InvalidDocument


def refusal(tmp_path: Path, out: Path) -> str:
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"servers": {"web": {"endpoint": "http://127.0.0.1:9"}}}))
    order = RecordOrder("web", registry, out, None, None, None, as_json=False)
    with pytest.raises(InvalidDocument) as refused:
        asyncio.run(run_recorder(order, Settings.from_env({"HOME": str(tmp_path)})))
    (problem,) = refused.value.problems
    assert (problem.code, problem.file) == ("TOOL_RECORD_FILE", str(out))
    return problem.message


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "web.tools.yaml"
    os.mkfifo(out)
    assert refusal(tmp_path, out) == "the file cannot be added to: it is no regular file"


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "web.tools.yaml"
    out.write_bytes(b"description: caf\xe9")
    assert refusal(tmp_path, out) == "the file cannot be added to: it is no text in UTF-8"
