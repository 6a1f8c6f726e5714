"""The skills as files under ``skill://``, as the Skills extension of MCP wants them (SEP-2640).

A skill lies at ``skill://<name>/<version>/<folder>``, its instructions in ``SKILL.md`` there. All
files are made from manifests, in memory: no address leads to the file system.
"""

from __future__ import annotations

import base64
import mimetypes
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dcf.digest import digest
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.agent_skills import (
    MOST_BYTES,
    MOST_FILES,
    SKILL_MD,
    SkillFolder,
    export_skill,
    read_skill_text,
)

SCHEME = "skill://"
DIRECTORY = "inode/directory"
_KEPT = 512
_TEXTS = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml"}


@dataclass(frozen=True, slots=True)
class ShelvedSkill:
    """``root`` is the address of the skill's folder; ``frontmatter`` is that of its SKILL.md."""

    manifest_id: str
    root: str
    folder: SkillFolder = field(hash=False)
    frontmatter: dict[str, Any] = field(hash=False)

    @property
    def uri(self) -> str:
        """The address of SKILL.md."""
        return self.address(SKILL_MD)

    @property
    def fits(self) -> bool:
        """Whether every client has to take it: at most 512 files and 16 MiB."""
        sizes = [len(data) for data in self.folder.files.values()]
        return len(sizes) <= MOST_FILES and sum(sizes) <= MOST_BYTES

    def address(self, path: str) -> str:
        """The address of a file."""
        return f"{self.root}/{quote(path, safe='/')}"

    def paths(self) -> dict[str, str]:
        """Files and directories by address; ``""`` is the folder itself."""
        found = {self.root: ""}
        for path in self.folder.files:
            while path:
                found[self.address(path)] = path
                path = path.rpartition("/")[0]
        return found

    def entry(self) -> dict[str, Any]:
        """``{uri, frontmatter, resources: [{uri, digest, size}]}``, every file once."""
        files = sorted(self.folder.files.items())
        return {
            "uri": self.uri,
            "frontmatter": self.frontmatter,
            "resources": [
                {"uri": self.address(path), "digest": digest(data), "size": len(data)}
                for path, data in files
            ],
        }

    def resources(self) -> Iterator[dict[str, Any]]:
        """Each file as ``resources/list`` has it, SKILL.md first."""
        for path in sorted(self.folder.files, key=lambda path: (path != SKILL_MD, path)):
            yield self.resource(path)

    def resource(self, path: str) -> dict[str, Any]:
        """One file as ``resources/list`` has it."""
        named: dict[str, Any] = {"name": path.rpartition("/")[2]}
        if path == SKILL_MD:
            about = self.frontmatter["description"]
            named = {"name": self.frontmatter["name"], "description": about}
        size = len(self.folder.files[path])
        return {"uri": self.address(path), **named, "mimeType": media_type(path), "size": size}

    def content(self, path: str) -> dict[str, Any]:
        """One file as ``resources/read`` gives it: text, or base64 of what is none."""
        known = {"uri": self.address(path), "mimeType": media_type(path)}
        text = self.folder.text(path)
        if text is not None:
            return {**known, "text": text}
        return {**known, "blob": base64.b64encode(self.folder.files[path]).decode()}

    def children(self, path: str) -> list[dict[str, Any]] | None:
        """What lies directly in the directory ``path`` (``""``: the skill's own); None when there
        is no such directory."""
        below = f"{path}/" if path else ""
        names = {
            name.removeprefix(below).partition("/")[0]
            for name in self.folder.files
            if name.startswith(below)
        }
        return [self._child(f"{below}{name}", name) for name in sorted(names)] or None

    def _child(self, path: str, name: str) -> dict[str, Any]:
        if path in self.folder.files:
            return self.resource(path)
        return {"uri": self.address(path), "name": name, "mimeType": DIRECTORY}


class SkillShelf:
    """The skills of a catalog, each made when somebody asks for it."""

    def __init__(self, catalog: SkillCatalog) -> None:
        self.catalog = catalog
        self._made: OrderedDict[str, ShelvedSkill] = OrderedDict()
        self._roots = {root_of(manifest): manifest for manifest in catalog}
        newest = {manifest.name: manifest for manifest in catalog}
        self._newest = [newest[name] for name in sorted(newest)]

    def page(self, after: str, most: int) -> tuple[list[ShelvedSkill], str | None]:
        """At most ``most`` skills after the one called ``after``, by name, each in its newest
        version; and the name to go on after, None at the end."""
        start = bisect_right(self._newest, after, key=lambda manifest: manifest.name)
        page = self._newest[start : start + most]
        following = page[-1].name if start + most < len(self._newest) else None
        return [skill for skill in map(self.skill, page) if skill.fits], following

    def skill(self, manifest: Manifest) -> ShelvedSkill:
        """``manifest`` as a folder."""
        found = self._made.pop(manifest.digest, None)
        if found is None:
            folder = export_skill(manifest)
            text, _ = read_skill_text(folder.text(SKILL_MD) or "", SKILL_MD)
            frontmatter = text.fields if text else {}
            root = f"{root_of(manifest)}/{folder.name}"
            found = ShelvedSkill(manifest.manifest_id, root, folder, frontmatter)
        self._made[manifest.digest] = found
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return found

    def find(self, uri: str) -> tuple[ShelvedSkill, str] | None:
        """The skill that ``uri`` lies in and the path there (``""``: its folder itself). Only
        addresses spelled as they are listed lead anywhere."""
        parts = uri.split("/", 5)
        manifest = self._roots.get("/".join(parts[:4]))
        if manifest is None or len(parts) < 5:
            return None
        skill = self.skill(manifest)
        if "/".join(parts[:5]) != skill.root:
            return None
        path = skill.paths().get(uri)
        return None if path is None else (skill, path)


def root_of(manifest: Manifest) -> str:
    """The address above the folder of a skill; no two skills share it."""
    return f"{SCHEME}{quote(manifest.name, safe='')}/{quote(manifest.version, safe='')}"


def media_type(path: str) -> str:
    """By the ending of a file's name."""
    ending = f".{path.rpartition('.')[2].lower()}"
    return _TEXTS.get(ending) or mimetypes.types_map.get(ending, "application/octet-stream")
