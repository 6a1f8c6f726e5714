"""The pipeline in parts, each under the name and with the answer it had in the earlier system.

Every part reads the whole source folder, so that all problems are found; ``generate_all`` is the
way to write everything at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dcf.digest import file_json
from dcf.problem import Problem, has_errors
from dcf.skills.authoring.shape import schema_texts
from dcf.skills.generation.artefacts import catalog_document, manifest_documents
from dcf.skills.generation.deposit import sole_writer, write_whole
from dcf.skills.generation.generate import write_problem
from dcf.skills.generation.lock_form import seen_tools
from dcf.skills.generation.manifest_form import manifest_file
from dcf.skills.generation.registry_form import registry_document
from dcf.skills.generation.report import (
    manifests_result,
    registry_result,
    schemas_result,
    stub_result,
)
from dcf.skills.generation.sources import Sources, read_sources
from dcf.skills.generation.stub_form import stub_document


def yaml_to_manifests(
    skills_dir: str | Path = "skills_src/skills",
    tools_yaml_path: str | Path = "skills_src/tools.yaml",
    out_dir: str | Path = "generated/manifests",
    catalog_path: str | Path = "generated/catalogs/skills_catalog.json",
) -> dict[str, Any]:
    """Write manifests and catalog: ``{ok, exit_code, status, error, written_files, manifests:
    [{manifestId, skillName, skillVersion, path}], warnings}``.

    Tools are those of ``tools/_index.yaml`` beside ``skills_dir``, else of ``tools.yaml`` there.
    Manifests of skills that are gone stay: ``generate_all`` removes them.
    """
    root, out, catalog = Path(skills_dir).parent, Path(out_dir), Path(catalog_path)
    with _alone(out.parent, catalog.parent.parent) as unlockable:
        sources = read_sources(root)
        problems = [*unlockable, *sources.problems, *_same_folder(root, Path(tools_yaml_path))]
        manifests = [] if has_errors(problems) else manifest_documents(sources.tree, sources.tools)
        files = {out / manifest_file(entry["manifestId"]): file_json(entry) for entry in manifests}
        if manifests:
            folder = Path(os.path.relpath(out, catalog.parent)).as_posix()
            files[catalog] = file_json(catalog_document(manifests, folder))
        problems += _write(files)
    return manifests_result(problems, [] if has_errors(problems) else manifests, out, catalog)


def yaml_to_stub_config(
    tools_yaml_path: str | Path = "skills_src/tools.yaml",
    out_path: str | Path = "generated/stub/stub_config.json",
) -> dict[str, Any]:
    """Write the stub's configuration: ``{ok, exit_code, status, error, written_file, tool_count,
    case_count, warnings}``. ``tools_yaml_path`` may also be a ``tools/_index.yaml``."""
    given, out = Path(tools_yaml_path), Path(out_path)
    root = given.parent.parent if given.name == "_index.yaml" else given.parent
    with _alone(out.parent.parent) as unlockable:
        sources = read_sources(root)
        problems = [*unlockable, *sources.problems]
        if not has_errors(problems):
            pins = seen_tools(sources.tree)
            document = stub_document(sources.tools, sources.tree.seed, pins)
            problems += _write({out: file_json(document)})
    return stub_result(problems, sources.tools, out)


def yaml_to_registry(
    registry_yaml_path: str | Path = "skills_src/registry.yaml",
    out_path: str | Path = "generated/registry.json",
) -> dict[str, Any]:
    """Write the registry: ``{ok, status, error, written_file, server_count, …}``. Variables stay:
    whoever connects fills them in."""
    out = Path(out_path)
    with _alone(out.parent) as unlockable:
        sources = read_sources(Path(registry_yaml_path).parent)
        problems = [*unlockable, *sources.problems]
        registry = sources.tree.registry
        if registry is not None and not has_errors(problems):
            problems += _write({out: file_json(registry_document(registry))})
    return registry_result(problems, _count(sources), out)


def yaml_to_schemas(
    schemas_yaml_dir: str | Path | None = None, out_dir: str | Path = "generated/schemas"
) -> dict[str, Any]:
    """Write the JSON Schemas: ``{ok, status, error, written_files, skipped_files, warnings}``.

    They come with the package; a folder of schemas in YAML is not read any more, and a warning
    says so.
    """
    out = Path(out_dir)
    with _alone(out.parent) as problems:
        if not problems:
            problems += _write({out / name: text.encode() for name, text in schema_texts().items()})
    result = schemas_result(out)
    if schemas_yaml_dir is not None:
        warning = f"{schemas_yaml_dir} is not read: the schemas come with DCF"
        result["warnings"] = [*result["warnings"], warning]
    if problems:
        failed = {"ok": False, "exit_code": 4, "status": "failed", "error": str(problems[0])}
        return {**result, **failed, "written_files": []}
    return result


def _same_folder(root: Path, tools: Path) -> list[Problem]:
    if tools.parent.resolve() in (root.resolve(), (root / "tools").resolve()):
        return []
    message = "skills and tools must stand in one source folder"
    hint = f"move the tools to {root}"
    return [Problem("SKILL_SOURCE_LAYOUT", message, hint=hint, file=str(tools))]


@contextmanager
def _alone(*folders: Path) -> Iterator[list[Problem]]:
    """Nothing is generated into ``folders`` meanwhile: files of a part and of a whole generation
    would stand side by side. Gives why one of them cannot be locked; what is not there yet has
    nothing to mix with."""
    problems: list[Problem] = []
    with ExitStack() as held:
        # In one order for all: two that wait for each other would wait for ever.
        for folder in sorted({folder.resolve() for folder in folders}):
            try:
                if folder.is_dir():
                    held.enter_context(sole_writer(folder))
            except OSError as error:
                problems.append(write_problem(error, folder))
        yield problems


def _write(files: Mapping[Path, bytes]) -> list[Problem]:
    for path, data in files.items():
        try:
            write_whole(path, data)
        except OSError as error:
            return [write_problem(error, path)]
    return []


def _count(sources: Sources) -> int:
    servers = sources.tree.registry.member("servers") if sources.tree.registry else None
    return sum(1 for _ in servers.members()) if servers else 0
