"""Skills: authored in YAML, generated into manifests, found by name.

``validate_sources`` and ``generate_all`` are the author's side, ``SkillCatalog`` the reader's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skills.authoring.marked_yaml import read_yaml
    from dcf.skills.authoring.new_skill import NewSkill, SkillOrder, new_skill
    from dcf.skills.authoring.shape import check_against
    from dcf.skills.authoring.source_plan import SourcePlan
    from dcf.skills.authoring.source_tree import SourceTree, read_tree
    from dcf.skills.authoring.tool_index import index_tools
    from dcf.skills.catalog import SkillCatalog
    from dcf.skills.errors import CatalogUnreadable, InvalidManifest, SkillError, UnknownSkill
    from dcf.skills.generation.deposit import whole
    from dcf.skills.generation.generate import (
        GenerateResult,
        check_generated,
        generate_all,
        validate_sources,
    )
    from dcf.skills.generation.manifests import manifests_of
    from dcf.skills.generation.parts import (
        yaml_to_manifests,
        yaml_to_registry,
        yaml_to_schemas,
        yaml_to_stub_config,
    )
    from dcf.skills.generation.parts import yaml_to_manifests as generate_manifests
    from dcf.skills.generation.parts import yaml_to_registry as generate_registry
    from dcf.skills.generation.parts import yaml_to_schemas as generate_schemas
    from dcf.skills.generation.parts import yaml_to_stub_config as generate_stub_config
    from dcf.skills.generation.pins_file import write_pins
    from dcf.skills.manifest import DataSource, Manifest, Permissions, SkillTool, validate_manifest
    from dcf.skills.namesakes import (
        Kinship,
        Namesake,
        best_of,
        namesakes,
        shape_of,
        shape_words,
    )
    from dcf.skills.version import SkillRef, is_range, newest, parse_ref
    from dcf.skills.version_order import version_order
else:
    export_late(__name__)


__all__ = [
    "CatalogUnreadable",
    "DataSource",
    "GenerateResult",
    "InvalidManifest",
    "Kinship",
    "Manifest",
    "Namesake",
    "NewSkill",
    "Permissions",
    "SkillCatalog",
    "SkillError",
    "SkillOrder",
    "SkillRef",
    "SkillTool",
    "SourcePlan",
    "SourceTree",
    "UnknownSkill",
    "best_of",
    "check_against",
    "check_generated",
    "generate_all",
    "generate_manifests",
    "generate_registry",
    "generate_schemas",
    "generate_stub_config",
    "index_tools",
    "is_range",
    "manifests_of",
    "namesakes",
    "new_skill",
    "newest",
    "parse_ref",
    "read_tree",
    "read_yaml",
    "shape_of",
    "shape_words",
    "validate_manifest",
    "validate_sources",
    "version_order",
    "whole",
    "write_pins",
    "yaml_to_manifests",
    "yaml_to_registry",
    "yaml_to_schemas",
    "yaml_to_stub_config",
]
