"""No secret is kept or returned by any way into retrieval: as text, name, file or question, over
Python, HTTP, MCP, the command line and a client's hook."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from integration.mcp.platforms import desk_on
from memory_user import MemoryUser
from unit.memory.memory_ways import ALL, LINE, NAME
from unit.memory.test_memory_ways_in import left
from unit.secret_form.secret_samples import samples

from dcf.cli.entry import run_command
from dcf.cli.memory.opening import person
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.retrieval import ContextQuestion, NewItem
from dcf.retrieval.serving import AccessLimits, create_app
from dcf.tools.serving import Guard

SAMPLES = samples(28, 1)
TEXT = "\n\n".join([ALL, *(one.text for one in SAMPLES)])
ERROR = f"ProviderBusy: the bank is away, {LINE}"
ASKED = f"{ERROR}: pay_tea until Monday, said Ann: {TEXT}"
REPOSITORY = Path(__file__).parents[3]
FILE = f"src/{NAME}.py"
KINDS = {"memory", "code_snippet", "document", "playbook"}


def leaked(text: str) -> list[object]:
    """The examples and samples of which something is left in ``text``."""
    plain = text.replace("\\n", "\n").replace("\\/", "/").replace('\\"', '"')
    return [*left(text), *(one for one in SAMPLES if one.secret in plain)]


@pytest.fixture
def project(memory: MemoryUser) -> Path:
    """With secrets in its code, a document, a playbook, and the path of a file."""
    (memory.folder / "src").mkdir()
    (memory.folder / "src" / "pay.py").write_text(f'def pay_tea():\n    """\n{TEXT}\n    """\n')
    (memory.folder / "src" / f"{NAME}.py").write_text("def pay_tea_with_name():\n    pass\n")
    (memory.folder / "docs").mkdir()
    (memory.folder / "docs" / "tea.md").write_text(f"# {LINE}\n\n{TEXT}\n")
    return memory.folder


async def over_python(root: Path) -> Any:
    settings, setting = Settings.from_env(env_of(root)), RetrievalSetting.from_env(env_of(root))
    async with open_retrieval(settings, setting, person("a test")) as retrieval:
        item = await retrieval.log(str(root), NewItem(TEXT, (LINE,), LINE, FILE))
        question = ContextQuestion(str(root), ASKED, FILE, 100, tags=(LINE,))
        answered = await retrieval.context(question)
        return item, question, answered, {one.candidate.type for one in answered.found}


async def over_http(root: Path) -> Any:
    settings, setting = Settings.from_env(env_of(root)), RetrievalSetting.from_env(env_of(root))
    async with open_retrieval(settings, setting, person("a test")) as retrieval:
        app = create_app(retrieval, setting.projects, Guard(), AccessLimits())
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            named = {"filePath": FILE, "tags": [LINE]}
            new = {"text": TEXT, "source": LINE, **named}
            logged = await client.post("/log", json=new)
            asked = {"query": ASKED, "limit": 100, **named}
            found = await client.post("/augmented-context", json=asked)
    assert (logged.status_code, found.status_code) == (200, 200)
    return logged.text, found.text, {one["type"] for one in found.json()["context"]}


async def over_mcp(root: Path) -> Any:
    # Nothing here asks Redis.
    home = Path(env_of(root)["DCF_HOME"])
    env = {"DCF_RETRIEVAL_ROOTS": str(root)}
    async with desk_on("redis://127.0.0.1:1", home, env=env) as desk:
        named = {"file_path": FILE, "tags": json.dumps([LINE])}
        logged = await desk.good("log_artifact", text=TEXT, source=LINE, **named)
        found = await desk.good("augmented_context", query=ASKED, limit=100, **named)
    return logged, found, {one["type"] for one in found["context"]}


def env_of(root: Path) -> dict[str, str]:
    home = str(root.parent / "home")
    return {"DCF_HOME": home, "DCF_EMBEDDER": "none", "DCF_RETRIEVAL_ROOTS": str(root)}


def test_no_secret_is_kept_or_returned(
    memory: MemoryUser, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def dcf(*words: str) -> str:
        assert run_command([*words]) == 0, capsys.readouterr().err
        said = capsys.readouterr()
        return said.out + said.err

    def hook(task: str, **said: Any) -> str:
        data = json.dumps({"cwd": str(project), **said}).encode()
        memory.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return dcf("retrieval", "hook", task)

    memory.patch.setenv("DCF_GENERATED", str(REPOSITORY / "generated"))
    returned = [
        dcf("documents", "add", "docs", "--json"),
        dcf("retrieval", "log", TEXT, "--tag", LINE, "--source", LINE, "--file", FILE, "--json"),
        dcf("retrieval", "playbooks", "add", ERROR, "--resolution", TEXT[:15_000], "--json"),
        hook("failures", tool_input={"command": f"{LINE}; pytest"}, error=f"1 failed {TEXT}"),
        hook("failures", tool_input={"command": "pytest"}, error=f"{TEXT}\n1 failed {'.' * 3_900}"),
        dcf("retrieval", "code", ASKED, "--wait", "--limit", "100", "--json"),
        dcf("retrieval", "documents", ASKED, "--json"),
        dcf("retrieval", "context", ASKED, "--limit", "100", "--explain", "--json"),
        dcf("retrieval", "context", ASKED, "--budget", "9000", "--explain"),
        hook("context", prompt=ASKED, hook_event_name="UserPromptSubmit"),
        dcf("open", "dcf://code/src%2Fpay.py/line/1-900"),
        dcf("memory", "search", ASKED, "--json"),
        dcf("memory", "observations", "search", ASKED, "--json"),
        dcf("memory", "scope", "add", "exp/base", "pay_tea waits"),
        dcf("memory", "scope", "search", "exp/base", ASKED, "--json"),
        dcf("skills", "search", ASKED, "--json"),
        dcf("retrieval", "audit", "--json", "--limit", "500"),
    ]
    for way in (over_python, over_http, over_mcp):
        *told, kinds = asyncio.run(way(project))
        assert kinds == KINDS, way.__name__
        returned += map(repr, told)
    assert leaked("\n".join(returned)) == []
    home = project.parent / "home"
    kept = b"".join(file.read_bytes() for file in sorted(home.rglob("*")) if file.is_file())
    assert leaked(kept.decode("latin-1")) == [] and b"[redacted: github token]" in kept
