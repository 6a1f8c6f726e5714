"""Whether a JSON value has the shape that one of the shipped schemas says."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from jsonschema import Draft202012Validator

from dcf.problem import Problem
from dcf.skills import check_against, read_yaml

Shape: TypeAlias = Literal["activity", "guidelines", "rules"]


def root_of(value: Any) -> Any:
    """``value`` as the root of a document that stands in no file."""
    document, _ = read_yaml("{}", "")
    assert document is not None
    return replace(document.root, value=value)


def root_of_text(text: str, file: str, prefix: str) -> tuple[Any, list[Problem]]:
    """The root of a YAML text, which knows the line of everything; None where nothing can be read,
    with the problems. An empty text is a document that says nothing."""
    document, problems = read_yaml(text, file)
    if document is not None:
        return document.root, problems
    if all(problem.code.endswith("_EMPTY") for problem in problems):
        return root_of({}), []
    return None, [replace(one, code=one.code.replace("SKILL", prefix, 1)) for one in problems]


def misfits(root: Any, shape: Shape, prefix: str) -> list[Problem]:
    """All by which the document does not fit; codes begin with ``prefix``."""
    return placed(check_against(root, _validator(shape), prefix))


def placed(problems: list[Problem]) -> list[Problem]:
    """``problems``, without a line where there is no file."""
    return [
        one if one.file else replace(one, file=None, line=None, column=None) for one in problems
    ]


@cache
def _validator(shape: Shape) -> Draft202012Validator:
    place = files("dcf.advisors.strategist") / "schemas" / f"{shape}.schema.json"
    return Draft202012Validator(json.loads(place.read_text(encoding="utf-8")))
