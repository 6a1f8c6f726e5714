"""Names on both sides: of skills, of files, of data sources."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

from dcf.skills.agent_skills.folder import MANIFEST, SKILL_MD, TESTS, TOOLS, is_safe_path
from dcf.skills.agent_skills.rules import MOST_NAME
from dcf.skills.manifest import DataSource

_OURS = frozenset({SKILL_MD, MANIFEST, TESTS, TOOLS})
_FILE = re.compile(r"File (?P<path>.+)")
FRONTMATTER = "Frontmatter of SKILL.md"
WHOLE = "SKILL.md, which has no instructions"
"""Descriptions of data sources that keep what a manifest has no place for."""


def folder_name(skill_name: str) -> str:
    """The name of the folder of a skill: ``orders.charge_payment`` is ``orders-charge-payment``.

    What is too long for the specification ends with a part of its digest.
    """
    name = re.sub(r"[^a-z0-9]+", "-", skill_name.lower()).strip("-") or "skill"
    if len(name) <= MOST_NAME:
        return name
    mark = hashlib.sha256(skill_name.encode()).hexdigest()[:8]
    return f"{name[: MOST_NAME - 9].rstrip('-')}-{mark}"


def skill_name(name: str) -> str:
    """The name of the skill that a folder becomes; ours begin with a letter."""
    return name if name[:1].isalpha() else f"skill-{name}"


def file_note(path: str) -> str:
    """What a data source says of itself that is the file at ``path`` of a skill's folder."""
    return f"File {path}"


def noted_path(source: DataSource) -> str | None:
    """The file of a skill's folder that a data source was, by its description."""
    noted = _FILE.fullmatch(source.description)
    path = noted["path"] if noted else ""
    return path if is_safe_path(path) and path not in _OURS else None


def data_path(source: DataSource, taken: Container[str]) -> str:
    """Where a data source lies that was written here: ``references/<id>.md``. ``taken`` are paths
    in lower case: some systems do not tell case."""
    stem = re.sub(r"[^a-zA-Z0-9_-]+", "-", source.id).strip("-")[:100] or "data"
    return _first_free("references/{}.md", stem, taken)


def data_id(path: str, taken: Container[str]) -> str:
    """The id of the data source that a file becomes."""
    stem = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")[:100]
    return _first_free("{}", stem if stem[:1].isalpha() else f"file-{stem}".rstrip("-"), taken)


def _first_free(form: str, stem: str, taken: Container[str]) -> str:
    number, name = 1, form.format(stem)
    while name.lower() in taken:
        number += 1
        name = form.format(f"{stem}-{number}")
    return name
