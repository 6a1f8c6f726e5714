"""The pipeline from sources in YAML to generated skills, and checking a manifest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from pydantic import Field

from dcf import skills
from dcf.agents.loading import MANIFEST_LIMIT
from dcf.mcp.envelope import Envelope
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.roots import readable, sources, target
from dcf.mcp.tool import tool
from dcf.problem import Problem
from dcf.regular_file import read_regular

SCHEMA_ERRORS, STATIC_ERRORS, OTHER_ERRORS = 1, 2, 4
_STATIC = ("SKILL_MANIFEST_TOOL_KIND", "SKILL_MANIFEST_TOOL_TWICE")
_OWN_SCHEMA = "schema_path is ignored: DCF checks manifests by its own schema"

SchemaPath = Annotated[str | None, NoEffect("Ignored: DCF has the schema.")]
ApprovalToken = Annotated[
    str | None, Obvious("Secret of those who approve; to write in generated.")
]
ToolsPath = Annotated[str | None, Obvious("The tools file or index.")]


class ManifestChecked(Envelope, total=False):
    """What is wrong with a manifest."""

    schema_errors: Annotated[list[str], Field(description="What the schema finds.")]
    static_errors: Annotated[list[str], Field(description="What else is wrong.")]


class Manifests(Envelope, total=False):
    """Manifests that were written."""

    written_files: Annotated[list[str], Field(description="The files.")]
    manifests: Annotated[
        list[dict[str, Any]], Field(description="{manifestId, skillName, skillVersion, path}.")
    ]


class StubConfig(Envelope, total=False):
    """The stub's configuration that was written."""

    written_file: Annotated[str | None, Field(description="The file.")]
    tool_count: Annotated[int, Field(description="Tools in it.")]
    case_count: Annotated[int, Field(description="Cases in it.")]


class RegistryWritten(Envelope, total=False):
    """The registry that was written."""

    written_file: Annotated[str | None, Field(description="The file.")]
    server_count: Annotated[int, Field(description="Servers in it.")]


class Schemas(Envelope, total=False):
    """JSON Schemas that were written."""

    written_files: Annotated[list[str], Field(description="The files.")]
    skipped_files: Annotated[list[str], Field(description="Always empty.")]


class Generated(Envelope, total=False):
    """What was generated."""

    written: Annotated[list[str], Field(description="Files that are new or changed.")]
    removed: Annotated[list[str], Field(description="Files that are gone.")]
    unchanged: Annotated[list[str], Field(description="Files that stayed.")]
    summary: Annotated[str, Field(description="In one line.")]
    manifests_result: Annotated[dict[str, Any], Field(description="As of yaml_to_manifests.")]
    stub_config_result: Annotated[dict[str, Any], Field(description="As of yaml_to_stub_config.")]
    registry_result: Annotated[dict[str, Any], Field(description="As of yaml_to_registry.")]
    schemas_result: Annotated[dict[str, Any], Field(description="As of yaml_to_schemas.")]


class _MadeOf(TypedDict):
    sources: Sequence[Path]
    approval_token: str | None


@tool("planner", legacy="ok")
async def validate_skill_manifest(
    platform: Platform,
    skill_json: Annotated[str, "The manifest, JSON text or path."],
    schema_path: SchemaPath = None,
) -> ManifestChecked:
    """Check a skill manifest."""
    warnings = [_OWN_SCHEMA] if schema_path else []
    try:
        document = await _manifest(platform, skill_json)
    except ValueError as error:
        return _checked([], [str(error)], OTHER_ERRORS, warnings)
    problems = skills.validate_manifest(document)
    warnings += [str(problem) for problem in problems if not problem.is_error]
    errors = [problem for problem in problems if problem.is_error]
    static = [_line(problem) for problem in errors if problem.code in _STATIC]
    schema = [_line(problem) for problem in errors if problem.code not in _STATIC]
    code = SCHEMA_ERRORS if schema else STATIC_ERRORS if static else 0
    return _checked(schema, static, code, warnings)


@tool(legacy="ok", strict=True)
async def yaml_to_manifests(
    platform: Platform,
    skills_dir: Annotated[str | None, Obvious("Folder of the skills.")] = None,
    tools_yaml_path: ToolsPath = None,
    out_dir: Annotated[str | None, Obvious("Folder of the manifests.")] = None,
    catalog_path: Annotated[str | None, Obvious("The catalog file.")] = None,
    approval_token: ApprovalToken = None,
) -> Manifests:
    """Generate manifests and catalog from YAML."""
    config = platform.config
    folder = sources(platform, skills_dir, config.skills_src / "skills", "skills_dir")
    tools = sources(platform, tools_yaml_path, folder.parent / "tools.yaml", "tools_yaml_path")
    own = config.generated / "manifests"
    made_of = _MadeOf(sources=(folder, tools), approval_token=approval_token)
    out = target(platform, out_dir, own, "out_dir", own=own, **made_of)
    catalog = target(
        platform,
        catalog_path,
        out.parent / "catalogs" / "skills_catalog.json",
        "catalog_path",
        own=config.generated / "catalogs" / "skills_catalog.json",
        **made_of,
    )
    made = await asyncio.to_thread(skills.yaml_to_manifests, folder, tools, out, catalog)
    return cast(Manifests, _coded(made))


@tool(legacy="ok", strict=True)
async def yaml_to_stub_config(
    platform: Platform,
    tools_yaml_path: ToolsPath = None,
    out_path: Annotated[str | None, Obvious("The file to write.")] = None,
    approval_token: ApprovalToken = None,
) -> StubConfig:
    """Generate the configuration of the stub server from YAML."""
    config = platform.config
    tools = sources(platform, tools_yaml_path, config.skills_src / "tools.yaml", "tools_yaml_path")
    default = config.generated / "stub" / "stub_config.json"
    out = target(
        platform,
        out_path,
        default,
        "out_path",
        sources=(tools,),
        own=default,
        approval_token=approval_token,
    )
    made = await asyncio.to_thread(skills.yaml_to_stub_config, tools, out)
    return cast(StubConfig, _coded(made))


@tool(legacy="ok", strict=True)
async def yaml_to_registry(
    platform: Platform,
    registry_yaml_path: Annotated[str | None, Obvious("The registry.")] = None,
    out_path: Annotated[str | None, Obvious("The file to write.")] = None,
    approval_token: ApprovalToken = None,
) -> RegistryWritten:
    """Generate the registry of tool servers from YAML."""
    config = platform.config
    registry = sources(
        platform, registry_yaml_path, config.skills_src / "registry.yaml", "registry_yaml_path"
    )
    default = config.generated / "registry.json"
    out = target(
        platform,
        out_path,
        default,
        "out_path",
        sources=(registry,),
        own=default,
        approval_token=approval_token,
    )
    made = await asyncio.to_thread(skills.yaml_to_registry, registry, out)
    return cast(RegistryWritten, _coded(made))


@tool(legacy="ok", strict=True)
async def yaml_to_schemas(
    platform: Platform,
    schemas_yaml_dir: Annotated[str | None, NoEffect("Ignored: DCF has the schemas.")] = None,
    out_dir: Annotated[str | None, Obvious("Folder to write to.")] = None,
    approval_token: ApprovalToken = None,
) -> Schemas:
    """Write the JSON Schemas of skills, for editors."""
    config = platform.config
    default = config.generated / "schemas"
    out = target(
        platform,
        out_dir,
        default,
        "out_dir",
        sources=(),
        own=default,
        approval_token=approval_token,
    )
    made = await asyncio.to_thread(skills.yaml_to_schemas, schemas_yaml_dir, out)
    return cast(Schemas, _coded(made))


@tool("planner", legacy="ok", strict=True)
async def generate_all(
    platform: Platform,
    skills_src_dir: Annotated[str | None, Obvious("The sources.")] = None,
    generated_dir: Annotated[str | None, Obvious("Where to.")] = None,
    approval_token: ApprovalToken = None,
) -> Generated:
    """Generate everything from the sources in YAML; with errors nothing is written."""
    config = platform.config
    given = sources(platform, skills_src_dir, config.skills_src, "skills_src_dir")
    out = target(
        platform,
        generated_dir,
        config.generated,
        "generated_dir",
        sources=(given,),
        own=config.generated,
        approval_token=approval_token,
    )
    result = await asyncio.to_thread(skills.generate_all, given, out)
    fields = result.to_dict()
    problems = fields.pop("problems")
    fields.pop("ok")
    if result.ok:
        warnings = [str(problem) for problem in result.problems]
        return cast(Generated, {**fields, "status": "generated", "warnings": warnings})
    errors = sum(problem.is_error for problem in result.problems)
    message = f"invalid_sources: {errors} {'error' if errors == 1 else 'errors'} in the sources"
    failed = {"status": None, "error": message, "problems": problems}
    return cast(Generated, {**fields, **failed})


FAMILY = (
    validate_skill_manifest,
    yaml_to_manifests,
    yaml_to_stub_config,
    yaml_to_registry,
    yaml_to_schemas,
    generate_all,
)


def _coded(made: dict[str, Any]) -> dict[str, Any]:
    """What a part made; its error with a code."""
    return {**made, "error": made["error"] and f"invalid_sources: {made['error']}"}


async def _manifest(platform: Platform, given: str) -> dict[str, Any]:
    """The document in ``given``, JSON text or the path of a file. Raises ValueError."""
    text = given
    if given.strip().startswith("skill://"):
        try:
            return (await platform.catalog()).resolve(given.strip()).raw
        except skills.UnknownSkill as unknown:
            raise ValueError(f"unknown skill: {unknown}") from unknown
    if not given.lstrip().startswith(("{", "[")):
        path = readable(platform, given, platform.config.generated / "manifests", "skill_json")
        try:
            data = await asyncio.to_thread(read_regular, path, MANIFEST_LIMIT + 1)
            text = data.decode("utf-8")
        except (OSError, UnicodeError) as error:
            raise ValueError(f"{path.name} cannot be read: {_why(error)}") from error
        if len(data) > MANIFEST_LIMIT:
            raise ValueError(f"{path.name} has more than {MANIFEST_LIMIT} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError("a manifest is a JSON object")
    return document


def _checked(
    schema: Sequence[str], static: Sequence[str], code: int, warnings: list[str]
) -> ManifestChecked:
    found = [*schema, *static]
    fields: dict[str, Any] = {
        "status": "invalid" if found else "valid",
        "error": f"invalid_manifest: {found[0]}" if found else None,
        "schema_errors": list(schema),
        "static_errors": list(static),
        "exit_code": code,
    }
    if warnings:
        fields["warnings"] = warnings
    return cast(ManifestChecked, fields)


def _line(problem: Problem) -> str:
    return f"{problem.path or '/'}: {problem.message}"


def _why(error: OSError | UnicodeError) -> str:
    """Without the place on the server's disk, which is nobody's business."""
    return (isinstance(error, OSError) and error.strerror) or "it is no text"
