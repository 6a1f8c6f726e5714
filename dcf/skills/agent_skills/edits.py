"""A folder of ours that somebody changed after it was exported: the files hold."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dcf.problem import Problem
from dcf.skills.agent_skills.body import CONTENTS, REST, body_of
from dcf.skills.agent_skills.export import data_paths, export_skill
from dcf.skills.agent_skills.folder import MANIFEST, SKILL_MD, TESTS, TOOLS, SkillFolder, as_data
from dcf.skills.agent_skills.kept import MOST_DESCRIPTION, Kept, kept_of
from dcf.skills.agent_skills.naming import data_id, file_note
from dcf.skills.agent_skills.shorten import shortened
from dcf.skills.agent_skills.skill_text import SkillText, read_skill_text
from dcf.skills.manifest import Manifest


def with_edits(
    manifest: Manifest, folder: SkillFolder, skill: SkillText, place: Path
) -> tuple[Manifest, list[Problem], list[str]]:
    """``manifest`` as the files of its folder say it now, a warning for each file that differs
    from what was exported, and the files that no manifest holds."""
    exported = export_skill(manifest).files
    ours = {MANIFEST, TESTS, TOOLS, CONTENTS}
    changed = [
        path for path in exported if path not in ours and folder.files.get(path) != exported[path]
    ]
    added = sorted(set(folder.files) - set(exported) - ours)
    texts = [path for path in added if as_data(folder.files[path]) is not None]
    beside = [path for path in added if path not in texts]
    if not changed and not texts:
        return manifest, [], beside
    document = copy.deepcopy(manifest.raw)
    if SKILL_MD in changed or REST in changed:
        _take_skill_md(document, manifest, folder, skill)
    _take_files(document, manifest, folder, changed, texts)
    warnings = list(_warnings([*changed, *texts], folder, place))
    return Manifest.from_document(document, str(place)), warnings, beside


def _take_skill_md(
    document: dict[str, Any], manifest: Manifest, folder: SkillFolder, skill: SkillText
) -> None:
    kept = kept_of(manifest)
    if kept is not None:
        _take_kept(document, kept, skill)
        return
    body = body_of(manifest, data_paths(manifest))
    head = skill.body.removeprefix("\n")
    if body.appendix and head.endswith(body.appendix):
        head = head[: -len(body.appendix)]
    rest = (folder.text(REST) or "") if body.rest else ""
    document["skillDirectives"] = head + rest if (head + rest).strip() else manifest.directives
    was, _ = read_skill_text(export_skill(manifest).text(SKILL_MD) or "", "")
    if was is None or skill.text("description") != was.text("description"):
        document["description"] = shortened(skill.text("description"), MOST_DESCRIPTION)


def _take_kept(document: dict[str, Any], kept: Kept, skill: SkillText) -> None:
    for source in document["requiredDataSources"]:
        if source["dataSourceId"] == kept.id:
            bodiless = kept.bodiless and not skill.body.strip()
            source["content"]["text"] = skill.block + (skill.body if bodiless else "")
    if skill.body.strip():
        document["skillDirectives"] = skill.body
    document["description"] = shortened(skill.text("description"), MOST_DESCRIPTION)


def _take_files(
    document: dict[str, Any],
    manifest: Manifest,
    folder: SkillFolder,
    changed: list[str],
    added: list[str],
) -> None:
    by_id = {name: path for name, path in data_paths(manifest).items() if path in changed}
    sources = []
    for source in document.get("requiredDataSources", ()):
        path = by_id.get(source["dataSourceId"])
        if path is not None:
            text = folder.text(path)
            if text is None:
                continue
            source["content"]["text"] = text
        sources.append(source)
    taken = {source["dataSourceId"] for source in sources}
    for path in added:
        name = data_id(path, taken)
        taken.add(name)
        content = {"type": "text_content", "text": folder.text(path)}
        new = {"dataSourceId": name, "destination": "archival_memory", "content": content}
        sources.append({**new, "description": file_note(path)})
    if sources or "requiredDataSources" in document:
        document["requiredDataSources"] = sources


def _warnings(paths: list[str], folder: SkillFolder, place: Path) -> Iterator[Problem]:
    hint = "the file holds; raise the version of the skill"
    for path in paths:
        gone = path not in folder.files
        message = "was exported, and is gone" if gone else f"is not what {MANIFEST} says"
        yield Problem("AGENT_SKILL_EDITED", message, "", hint, "warning", str(place / path))
