"""The templates there are: DCF's own, and a folder of the user's, which may replace them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from dcf.agents.templates.errors import InvalidTemplate, UnknownTemplate
from dcf.agents.templates.template import Template
from dcf.problem import Problem
from dcf_agents.shipped import shipped

Mark: TypeAlias = tuple[tuple[str, int, int], ...]

HERE = Path(__file__).resolve().parent


def prompts_folder() -> Path:
    """DCF's prompts. Raises NotShipped when the installation is not whole."""
    return shipped("prompts")


def templates(own: Path | None = None) -> Mapping[str, Template]:
    """All templates by name. Those in the folder ``own`` (YAML files, with prompts beside them)
    take the place of DCF's of the same name. Raises InvalidTemplate with all that is wrong."""
    return {**_shipped(), **({} if own is None else _of_folder(own, _mark(own)))}


def template_named(name: str, own: Path | None = None) -> Template:
    """The template of this name. Raises UnknownTemplate, InvalidTemplate."""
    known = templates(own)
    if name not in known:
        raise UnknownTemplate(name, sorted(known))
    return known[name]


@cache
def _shipped() -> Mapping[str, Template]:
    return _read(HERE, (prompts_folder(),))


@lru_cache(maxsize=8)
def _of_folder(folder: Path, mark: Mark) -> Mapping[str, Template]:
    return _read(folder, (folder, prompts_folder()))


def _mark(folder: Path) -> Mark:
    """What changes with each file of the folder."""
    try:
        with os.scandir(folder) as entries:
            found = [(one.name, one.stat()) for one in entries]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in found))


def _read(folder: Path, prompts: tuple[Path, ...]) -> dict[str, Template]:
    # Reads YAML and JSON Schema: heavy, and not needed before the first agent is made.
    from dcf.agents.templates.reading import read_template

    found: dict[str, Template] = {}
    problems: list[Problem] = []
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise InvalidTemplate([Problem("TEMPLATE_FOLDER", message, file=str(folder))])
    for file in sorted(folder.glob("*.yaml")):
        template, objections = read_template(file, prompts)
        problems += sorted(filter(_is_error, objections), key=_line)
        if template is not None:
            found[template.name] = template
    if problems:
        raise InvalidTemplate(problems)
    return found


def _is_error(problem: Problem) -> bool:
    return problem.is_error


def _line(problem: Problem) -> int:
    return problem.line or 0
