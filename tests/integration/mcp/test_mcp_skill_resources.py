"""Skills as resources, by the Skills extension of MCP (SEP-2640).

What answers must have is taken from the extension's text, and what a client does with them is what
it asks of hosts: every file read is compared with the size and the digest in its entry.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from integration.mcp.platforms import desk_on
from integration.tools.conftest import serving_app
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Request, RequestParams, Resource, Result

from dcf.mcp import Platform
from dcf.mcp.http_app import create_app
from dcf.mcp.protocol import create_protocol
from dcf.skills import generate_all
from dcf.tools.serving import Guard

EXTENSION = "io.modelcontextprotocol/skills"
INVALID_PARAMS = -32602
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])

SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata:
  manifestId: skill.{name}@{version}
  name: {name}
  version: {version}
  description: Tea {version}.
spec:
  directives: Boil {version}.
  dataSources:
    - {{id: notes, text: Three minutes.}}
    - {{id: form, description: File assets/deep/form.txt, text: "é"}}
"""
TREE = {
    "tools.yaml": "apiVersion: tools/v1\nkind: ToolsRegistry\nservers: {}\n",
    "registry.yaml": "apiVersion: registry/v1\nkind: ServerRegistry\nservers: {}\n",
}


class Params(RequestParams, extra="allow"):
    pass


class Answer(Result, extra="allow"):
    pass


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """The answer to a method that the SDK does not know."""
    request: Request[Any, Any] = Request(method=method, params=Params(**params))
    answer = await client.session.send_request(request, Answer)
    return answer.model_dump(by_alias=True, exclude_none=True)


async def refused(client: Client, method: str, **params: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await ask(client, method, **params)
    return caught.value


def author(folder: Path, *skills: tuple[str, str]) -> None:
    source = folder / "skills_src"
    for name, text in TREE.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    for name, version in skills:
        file = source / "skills" / f"{name}-{version}.skill.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(SKILL.format(name=name, version=version))
    done = generate_all(source, folder / "generated")
    assert done.ok, done.problems


@asynccontextmanager
async def platform_in(url: str, folder: Path) -> AsyncIterator[Platform]:
    author(folder, ("tea.brew", "1.0.0"), ("tea.brew", "1.1.0"), ("milk", "1.0.0"))
    async with desk_on(url, folder) as desk:
        yield desk.platform


@asynccontextmanager
async def served_as_it_is(url: str, folder: Path, mode: str) -> AsyncIterator[Client]:
    async with desk_on(url, folder) as desk:
        protocol = create_protocol(desk.platform, version="0")
        async with Client(protocol, mode=mode) as client:
            yield client


@asynccontextmanager
async def served(url: str, folder: Path, mode: str) -> AsyncIterator[Client]:
    async with platform_in(url, folder) as platform:
        protocol = create_protocol(platform, version="0")
        async with Client(protocol, mode=mode) as client:
            yield client


async def skill_files(client: Client) -> list[Resource]:
    """The files of skills among the resources."""
    listed = (await client.list_resources()).resources
    return [one for one in listed if one.uri.startswith("skill://")]


async def read_verified(client: Client, entry: dict[str, Any]) -> dict[str, bytes]:
    """Every file of a skill, each as its entry promises."""
    files = {}
    for promised in entry["resources"]:
        [content] = (await client.read_resource(promised["uri"])).contents
        text = getattr(content, "text", None)
        data = text.encode() if text is not None else base64.b64decode(content.blob)
        assert len(data) == promised["size"]
        assert f"sha256:{hashlib.sha256(data).hexdigest()}" == promised["digest"]
        files[promised["uri"]] = data
    return files


@BOTH
async def test_a_host_lists_verifies_and_reads_every_file_of_every_skill(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    async with platform_in(redis_url, tmp_path) as platform:
        app = create_app(platform, Guard(token=None))
        async with serving_app(app) as url, Client(f"{url}/mcp", mode=mode) as client:
            capabilities = client.server_capabilities
            assert capabilities.resources is not None
            if mode == "auto":  # older protocols have no member for extensions
                assert (capabilities.extensions or {})[EXTENSION] == {"directoryRead": True}
            answer = await ask(client, "skills/list")
            assert answer["resultType"] == "complete"
            assert answer["ttlMs"] >= 0 and answer["cacheScope"] in ("public", "private")
            assert "nextCursor" not in answer
            assert [skill["uri"] for skill in answer["skills"]] == [
                "skill://milk/1.0.0/milk/SKILL.md",
                "skill://tea.brew/1.1.0/tea-brew/SKILL.md",  # of each skill the newest version
            ]
            for entry in answer["skills"]:
                files = await read_verified(client, entry)
                text = files[entry["uri"]].decode()
                front = yaml.safe_load(text.split("---\n")[1])
                assert front == entry["frontmatter"]
                assert entry["uri"].split("/")[-2] == front["name"]
                assert len(files) == len(entry["resources"])
            listed = await skill_files(client)
            every = [one["uri"] for skill in answer["skills"] for one in skill["resources"]]
            assert sorted(resource.uri for resource in listed) == sorted(every)
            heads = {one.uri: one for one in listed}
            head = heads["skill://tea.brew/1.1.0/tea-brew/SKILL.md"]
            assert (head.name, head.description) == ("tea-brew", "Tea 1.1.0.")
            assert head.mime_type == "text/markdown"


@BOTH
async def test_a_version_that_is_not_listed_is_still_served(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    async with served(redis_url, tmp_path, mode) as client:
        uri = "skill://tea.brew/1.0.0/tea-brew/SKILL.md"
        answer = await ask(client, "skills/get", uri=uri)
        assert answer["resultType"] == "complete" and answer["skill"]["uri"] == uri
        assert "Boil 1.0.0." in (await read_verified(client, answer["skill"]))[uri].decode()


@BOTH
async def test_directories_list_their_direct_children(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    async with served(redis_url, tmp_path, mode) as client:
        root = "skill://milk/1.0.0/milk"
        answer = await ask(client, "resources/directory/read", uri=root)
        assert answer["resultType"] == "complete"
        kinds = {one["name"]: one["mimeType"] for one in answer["resources"]}
        assert kinds == {
            "milk": "text/markdown",
            "assets": "inode/directory",
            "references": "inode/directory",
            "dcf.manifest.json": "application/json",
        }
        below = await ask(client, "resources/directory/read", uri=f"{root}/assets/deep")
        assert [one["uri"] for one in below["resources"]] == [f"{root}/assets/deep/form.txt"]
        for uri in (f"{root}/SKILL.md", f"{root}/nothing", f"{root}/", "skill://milk/1.0.0"):
            error = await refused(client, "resources/directory/read", uri=uri)
            assert error.error.code == INVALID_PARAMS, uri


ROOT = "skill://milk/1.0.0/milk"
NOWHERE = [
    "skill://coffee/1.0.0/coffee/SKILL.md",
    "skill://milk/9.0.0/milk/SKILL.md",
    "skill://milk/1.0.0/tea/SKILL.md",
    "skill://milk@1.0.0",
    ROOT,
    f"{ROOT}/",
    f"{ROOT}/references",
    f"{ROOT}/SKILL.md/",
    f"{ROOT}/skill.md",
    f"{ROOT}/../../../tea.brew/1.0.0/tea-brew/SKILL.md",
    f"{ROOT}/references/../SKILL.md",
    f"{ROOT}/..%2f..%2fregistry.json",
    f"{ROOT}/%2e%2e/%2e%2e/skills.lock",
    f"{ROOT}//etc/passwd",
    f"{ROOT}/./SKILL.md",
    f"{ROOT}/SKILL.md?x=1",
    f"{ROOT}/SKILL.md#x",
    "file:///etc/passwd",
    "skill:///etc/passwd",
    "skill://",
    "",
    "\x00",
    "é" * 5000,
]


@BOTH
async def test_addresses_that_are_not_listed_lead_nowhere(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    async with served(redis_url, tmp_path, mode) as client:
        for uri in NOWHERE:
            for method in ("resources/read", "skills/get"):
                error = await refused(client, method, uri=uri)
                assert error.error.code == INVALID_PARAMS, (method, uri)
        error = await refused(client, "skills/get", uri=f"{ROOT}/references/notes.md")
        assert error.error.code == INVALID_PARAMS
        error = await refused(client, "skills/get")
        assert error.error.code == INVALID_PARAMS


@BOTH
async def test_what_is_generated_anew_is_served_at_once(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    async with served(redis_url, tmp_path, mode) as client:
        before = (await ask(client, "skills/list"))["skills"]
        author(tmp_path, ("tea.brew", "2.0.0"))
        file = tmp_path / "skills_src/skills/milk-1.0.0.skill.yaml"
        file.write_text(file.read_text().replace("Boil", "Warm"))
        assert generate_all(tmp_path / "skills_src", tmp_path / "generated").ok
        after = (await ask(client, "skills/list"))["skills"]
        assert before[0]["uri"] == after[0]["uri"]
        assert before[0]["resources"] != after[0]["resources"]
        assert after[1]["uri"] == "skill://tea.brew/2.0.0/tea-brew/SKILL.md"
        for entry in after:
            await read_verified(client, entry)


@BOTH
async def test_long_lists_come_in_pages_and_skills_are_never_cut(
    redis_url: str, tmp_path: Path, mode: str
) -> None:
    names = [f"s{number:03}" for number in range(120)]
    author(tmp_path, *((name, "1.0.0") for name in names))
    async with served_as_it_is(redis_url, tmp_path, mode) as client:
        for method, member in (("skills/list", "skills"), ("resources/list", "resources")):
            found, cursor, pages = [], None, 0
            while pages == 0 or cursor:
                answer = await ask(client, method, **({"cursor": cursor} if cursor else {}))
                uris = [one["uri"] for one in answer[member]]
                found += [uri.split("/")[2] for uri in uris if uri.startswith("skill://")]
                cursor, pages = answer.get("nextCursor"), pages + 1
            assert pages == 3
            assert list(dict.fromkeys(found)) == names
        error = await refused(client, "skills/list", cursor="nonsense!")
        assert error.error.code == INVALID_PARAMS


async def test_without_generated_skills_the_lists_are_empty(redis_url: str, tmp_path: Path) -> None:
    async with served_as_it_is(redis_url, tmp_path, "auto") as client:
        assert (await ask(client, "skills/list"))["skills"] == []
        assert await skill_files(client) == []
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.name for one in templates] == ["skill-file", "observation"]
