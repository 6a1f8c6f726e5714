"""An idle worker stays small and nothing leaves the machine: checked in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

WATCHED = """
import asyncio, json, sys
sys.path.insert(0, {here!r})
seen = []

def audit(event, arguments):
    name = str(arguments[0]) if arguments else ""
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        seen.append([event, repr(arguments)])
    if event == "open" and name.split("/")[-1].startswith(".env"):
        seen.append([event, name])

sys.addaudithook(audit)
from agent_samples import ToolServer, a_skill, a_tool, an_assignment, rehearse
report = asyncio.run(rehearse(an_assignment(a_skill("s", a_tool("t"))), ToolServer()))
print(json.dumps([report.data, seen]))
"""


def run(program: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_the_room_loads_no_model_library(tmp_path: Path) -> None:
    loaded = run(
        "import json, sys, dcf.agents; dcf.agents.LocalRuntime(); print(json.dumps("
        "sorted(n for n in ('pydantic_ai', 'pydantic', 'jsonschema', 'mcp') if n in sys.modules)))",
        tmp_path,
    )
    assert loaded == []


def test_a_rehearsal_opens_no_connection_and_reads_no_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=never-read\n")
    data, seen = run(WATCHED.format(here=str(HERE)), tmp_path)
    assert data == {"t": {"tool": "t"}}
    assert seen == []
