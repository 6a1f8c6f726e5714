"""From a manifest to the folder of an Agent Skill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.digest import file_json
from dcf.skills.agent_skills.body import CONTENTS, REST, body_of
from dcf.skills.agent_skills.folder import MANIFEST, SKILL_MD, TESTS, TOOLS, SkillFolder
from dcf.skills.agent_skills.kept import Kept, kept_of
from dcf.skills.agent_skills.naming import data_path, folder_name, noted_path
from dcf.skills.agent_skills.rules import MOST_COMPATIBILITY, MOST_DESCRIPTION
from dcf.skills.agent_skills.shorten import shortened
from dcf.skills.manifest import Manifest


def export_skill(
    manifest: Manifest,
    *,
    tests: Sequence[Mapping[str, Any]] = (),
    tools: Mapping[str, Any] | None = None,
    beside: Mapping[str, bytes] | None = None,
) -> SkillFolder:
    """The folder of ``manifest``: SKILL.md with the six keys of the specification, data sources as
    files, and the manifest itself in ``dcf.manifest.json``, from which nothing is lost.

    A skill that was imported gets its frontmatter, its body and its files as they were. ``tests``
    are those of the skill, for ``dcf.tests.json``, and ``tools`` its tools with their cases by
    ``server:tool``, for ``dcf.tools.json``; ``beside`` are files that no manifest holds.
    """
    kept = kept_of(manifest)
    paths = _paths(manifest, kept)
    sources = {source.id: source for source in manifest.data_sources}
    files = {path: sources[name].text.encode() for name, path in paths.items()}
    if kept is not None:
        name = kept.name
        files[SKILL_MD] = kept.skill_md(manifest).encode()
    else:
        name = folder_name(manifest.name)
        body = body_of(manifest, paths)
        files[SKILL_MD] = (_frontmatter(manifest, name) + body.text).encode()
        if body.rest:
            files[REST] = body.rest.encode()
        if body.contents:
            files[CONTENTS] = body.contents.encode()
    files[MANIFEST] = file_json(manifest.raw)
    if tests:
        files[TESTS] = file_json({"tests": list(tests)})
    if tools:
        files[TOOLS] = file_json({"tools": dict(tools)})
    return SkillFolder(name, {**(beside or {}), **files})


def data_paths(manifest: Manifest) -> dict[str, str]:
    """The file of each data source in the folder, by id; what is no file there is left out."""
    return _paths(manifest, kept_of(manifest))


def _paths(manifest: Manifest, kept: Kept | None) -> dict[str, str]:
    sources = [source for source in manifest.data_sources if kept is None or source.id != kept.id]
    paths: dict[str, str] = {}
    taken = set() if kept else {REST, CONTENTS}
    for source in sources:
        noted = noted_path(source)
        if noted is not None and noted not in taken and source.id not in paths:
            paths[source.id] = noted
            taken.add(noted)
    taken = {path.lower() for path in taken}
    for source in sources:
        if source.id not in paths:
            paths[source.id] = data_path(source, taken)
            taken.add(paths[source.id].lower())
    return paths


def _frontmatter(manifest: Manifest, name: str) -> str:
    about = manifest.description.strip() or " ".join(manifest.directives.split())
    lines = ["---", f"name: {name}", f"description: {_quoted(shortened(about, MOST_DESCRIPTION))}"]
    servers = sorted({tool.server_id for tool in manifest.tools})
    if servers:
        needed = f"Needs MCP servers with the tools listed below: {', '.join(servers)}."
        lines.append(f"compatibility: {_quoted(shortened(needed, MOST_COMPATIBILITY))}")
    lines.append("metadata:")
    lines += [f"  {key}: {_quoted(value)}" for key, value in _metadata(manifest).items() if value]
    return "\n".join([*lines, "---"]) + "\n"


def _metadata(manifest: Manifest) -> dict[str, str]:
    """What the specification has no key for. No allowed-tools: elsewhere that would grant them."""
    rights = manifest.permissions
    return {
        "dcf-manifest-id": manifest.manifest_id,
        "dcf-version": manifest.version,
        "dcf-digest": manifest.digest,
        "dcf-tags": " ".join(manifest.tags),
        "dcf-egress": rights.egress,
        "dcf-risk-level": rights.risk_level,
        "dcf-secrets": " ".join(rights.secrets),
        "dcf-files": " ".join(rights.files),
        "dcf-tools": " ".join(f"{tool.server_id}:{tool.tool_name}" for tool in manifest.tools),
        "dcf-dependencies": " ".join(manifest.dependencies),
    }


def _quoted(text: str) -> str:
    """``text`` in double quotes as every YAML reader reads it: JSON's escapes are YAML's, but for
    characters beyond U+FFFF, which YAML escapes in another way."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(_escaped(character) for character in plain)


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
