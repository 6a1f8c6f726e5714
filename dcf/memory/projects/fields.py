"""A project's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import PurePosixPath
from typing import Any, TypedDict

from dcf.memory.audit.entity import Row
from dcf.memory.checking import data_problems, json_of, refuse, text_problems
from dcf.memory.project import NewProject, Project
from dcf.problem import Problem


class ProjectFields(TypedDict, total=False):
    """What can be changed of a project."""

    path: str
    name: str
    metadata: Mapping[str, Any]


def project_of(row: Row) -> Project:
    """The project in a row."""
    known = {field.name: row[field.name] for field in fields(Project)}
    return Project(**{**known, "metadata": json.loads(row["metadata"])})


def plain_path(path: str) -> str:
    """``path`` without a slash at its end, and without ``.`` and empty parts."""
    return str(PurePosixPath(path)) if path else path


def new_columns(new: NewProject) -> dict[str, Any]:
    """The columns of a new project. Raises InvalidEntry with all that is wrong."""
    path = plain_path(new.path)
    name = new.name or PurePosixPath(path).name or path
    return columns_of({"path": path, "name": name, "metadata": new.metadata})


def columns_of(given: ProjectFields) -> dict[str, Any]:
    """The columns of the fields ``given``. Raises InvalidEntry with all that is wrong."""
    refuse("the project", _problems(given))
    columns: dict[str, Any] = dict(given)
    if "path" in columns:
        columns["path"] = plain_path(columns["path"])
    if "metadata" in columns:
        columns["metadata"] = json_of(columns["metadata"])
    return columns


def _problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted(given.keys() - ProjectFields.__annotations__.keys()):
        yield Problem("memory_project_field", f"a project has no field {name}", f"/{name}")
    if "path" in given:
        yield from text_problems("/path", given["path"], filled=True)
        path = PurePosixPath(given["path"])
        if not path.is_absolute() or ".." in path.parts:
            yield Problem(
                "memory_project_path",
                f"the path {given['path']!r} is not absolute, or has `..` in it",
                "/path",
                "give the whole path of the project's folder",
            )
    if "name" in given:
        yield from text_problems("/name", given["name"], filled=True)
    if "metadata" in given:
        yield from data_problems("/metadata", given["metadata"])
