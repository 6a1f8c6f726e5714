"""The connections of the server follow the registry and the policy of the generated folder."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from dcf.mcp.generated_folder import GeneratedFolder
from dcf.tools import NO_STUB, InvalidDocument, ToolUnavailable

OUTSIDE = "198.51.100.7"  # TEST-NET-2 of RFC 5737: nobody's address


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    server = {"transport": "streamable_http", "endpoint": "http://files.example/mcp"}
    registry = {"registryVersion": 1, "env": "test", "servers": {"files": server}}
    (tmp_path / "registry.json").write_text(json.dumps(registry))
    (tmp_path / "policy.json").write_text(json.dumps(policy()))
    return tmp_path


def policy(**egress: list[str]) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "ToolPolicy", "egress": egress}


def leads_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(host: object, port: object, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (OUTSIDE, port or 0))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)


async def test_what_the_policy_counts_as_near_must_not_lead_outside(
    generated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (generated / "policy.json").write_text(json.dumps(policy(intranet=["*.example"])))
    leads_outside(monkeypatch)
    folder = GeneratedFolder(generated, {})
    try:
        toolbox = await folder.toolbox()
        with pytest.raises(ToolUnavailable, match=f"name of the intranet but leads to {OUTSIDE}"):
            await toolbox.list_tools("files")
    finally:
        await folder.close()


async def test_a_changed_policy_makes_new_connections(generated: Path) -> None:
    folder = GeneratedFolder(generated, {})
    try:
        first = await folder.toolbox()
        assert await folder.toolbox() is first
        (generated / "policy.json").write_text(json.dumps(policy(machine=["files.example"])))
        assert await folder.toolbox() is not first
    finally:
        await folder.close()


async def test_the_stub_is_looked_for_anew_with_each_call(generated: Path) -> None:
    server = {"endpoint": "${DCF_STUB_URL:-http://127.0.0.1:8765}"}
    (generated / "registry.json").write_text(json.dumps({"servers": {"files": server}}))
    at = NO_STUB
    folder = GeneratedFolder(generated, {}, lambda: at)
    try:
        with pytest.raises(ToolUnavailable, match="does not run"):
            await (await folder.toolbox()).list_tools("files")
        at = "http://127.0.0.1:9"
        assert (await folder.toolbox()).registry.server("files").url == "http://127.0.0.1:9/mcp"
    finally:
        await folder.close()


async def test_a_policy_that_vanishes_or_breaks_leaves_the_last_good_one(generated: Path) -> None:
    (generated / "policy.json").write_text(json.dumps(policy(machine=["files.example"])))
    folder = GeneratedFolder(generated, {})
    known = await folder.policy()
    assert folder.faults() == []
    for spoil in ("{", None):
        (generated / "policy.json").unlink()
        if spoil is not None:
            (generated / "policy.json").write_text(spoil)
        assert await folder.policy() is known
        assert "policy.json" in folder.faults()[0]
    (generated / "policy.json").write_text(json.dumps(policy()))
    assert await folder.policy() != known
    assert folder.faults() == []


def lock(*artefacts: str) -> str:
    named = dict.fromkeys(artefacts, "sha256:" + "0" * 64)
    return json.dumps({"lockVersion": 2, "artefacts": named, "skills": {}, "tools": {}})


async def test_a_policy_that_the_lock_names_has_to_be_there(generated: Path) -> None:
    (generated / "policy.json").unlink()
    (generated / "skills.lock").write_text(lock("policy.json"))
    with pytest.raises(InvalidDocument, match="POLICY_GONE"):
        await GeneratedFolder(generated, {}).policy()
    (generated / "skills.lock").write_text(lock())
    await GeneratedFolder(generated, {}).policy()


@pytest.mark.parametrize("text", ["{}", "[]", '{"version": 1, "servers": {}}', "x"])
async def test_what_is_no_lock_is_an_error_and_not_a_lock_without_pins(
    generated: Path, text: str
) -> None:
    (generated / "skills.lock").write_text(text)
    with pytest.raises(InvalidDocument, match="LOCK_UNREADABLE"):
        await GeneratedFolder(generated, {}).pins()


async def test_skills_without_a_lock_are_told(generated: Path) -> None:
    (generated / "manifests").mkdir()
    folder = GeneratedFolder(generated, {})
    assert await folder.pins() == {}
    assert "skills.lock" in folder.warnings()[0]
