"""An idle worker imports this room; it must not pay for what only a tool call needs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_room_loads_neither_the_sdk_nor_yaml_nor_a_server() -> None:
    heavy = {"mcp", "mcp_types", "pydantic", "httpx2", "starlette", "uvicorn", "yaml", "jsonschema"}
    program = f"import sys, dcf.tools; print(sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
