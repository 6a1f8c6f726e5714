"""Skills: authored in YAML, generated into manifests, found by name.

``validate_sources`` and ``generate_all`` are the author's side, ``SkillCatalog`` the reader's.
"""

from __future__ import annotations

from dcf.skills.authoring.marked_yaml import read_yaml
from dcf.skills.catalog import SkillCatalog
from dcf.skills.errors import CatalogUnreadable, InvalidManifest, SkillError, UnknownSkill
from dcf.skills.generation.generate import GenerateResult, generate_all, validate_sources
from dcf.skills.manifest import DataSource, Manifest, Permissions, SkillTool, validate_manifest

__all__ = [
    "CatalogUnreadable",
    "DataSource",
    "GenerateResult",
    "InvalidManifest",
    "Manifest",
    "Permissions",
    "SkillCatalog",
    "SkillError",
    "SkillTool",
    "UnknownSkill",
    "generate_all",
    "read_yaml",
    "validate_manifest",
    "validate_sources",
]
