"""Reading templates: YAML files that a user may have written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from dcf.agents.templates.prompt import read_prompt, read_text
from dcf.agents.templates.template import Prompt, Template, TemplateTools
from dcf.digest import canonical_json, digest
from dcf.memory import CONTEXT_WINDOW, NewBlock
from dcf.problem import Problem
from dcf.skills import check_against, read_yaml

_SCHEMA = "agent_template.schema.json"


def read_template(file: Path, prompts: Sequence[Path]) -> tuple[Template | None, list[Problem]]:
    """The template in ``file`` with its prompt, which is in the first of the folders ``prompts``
    that has it; or None, and all that is wrong with both."""
    text, problems = read_text(file)
    if text is None:
        return None, problems
    document, problems = read_yaml(text, str(file))
    if document is None:
        return None, problems
    root = document.root
    problems += check_against(root, _validator(), "TEMPLATE")
    problems += _label_problems(root)
    name = root.text("metadata", "name")
    if name is not None and name != file.stem:
        message = f"the template is called {name!r}, its file {file.name}"
        hint = f"write name: {file.stem}"
        problems.append(
            (root.inside("metadata", "name") or root).problem("TEMPLATE_NAME", message, hint)
        )
    prompt, of_prompt = _prompt(root, prompts)
    problems += of_prompt
    if prompt is None or any(problem.is_error for problem in problems):
        return None, problems
    return _template(document.value, prompt), problems


@cache
def _validator() -> Draft202012Validator:
    text = (files("dcf.agents.templates") / _SCHEMA).read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _prompt(root: Any, folders: Sequence[Path]) -> tuple[Prompt | None, list[Problem]]:
    name = root.text("spec", "prompt")
    if name is None or "/" in name:
        return None, []  # said by the shape check
    for folder in folders:
        file = folder / f"{name}.md"
        if file.is_file():
            return read_prompt(file)
    message = f"there is no prompt {name}.md"
    hint = f"write it into {folders[0]}" if folders else ""
    return None, [root.inside("spec", "prompt").problem("TEMPLATE_PROMPT", message, hint)]


def _label_problems(root: Any) -> Iterator[Problem]:
    blocks = root.inside("spec", "blocks")
    seen: set[str] = set()
    for block in blocks.elements() if blocks else ():
        label = block.text("label")
        if label in seen:
            yield block.problem("TEMPLATE_LABEL", f"there are two blocks {label!r}", "keep one")
        if label is not None:
            seen.add(label)
        soft, hard = block.member("softLimit"), block.member("hardLimit")
        limits = [one.value for one in (soft, hard) if one and isinstance(one.value, int)]
        if len(limits) == 2 and limits[0] > limits[1]:
            yield soft.problem("TEMPLATE_LIMIT", "softLimit is more than hardLimit")
        value = block.text("value") or ""
        if hard and isinstance(hard.value, int) and len(value.encode()) > hard.value:
            yield block.problem("TEMPLATE_LIMIT", "the value is larger than hardLimit")


def _template(value: dict[str, Any], prompt: Prompt) -> Template:
    metadata, spec = value["metadata"], value["spec"]
    tools, settings = spec.get("tools", {}), spec.get("settings", {})
    whole = {"template": value, "prompt": {"version": prompt.version, "text": prompt.text}}
    return Template(
        name=metadata["name"],
        version=metadata["version"],
        description=metadata["description"],
        role=spec["role"],
        prompt=prompt,
        tools=TemplateTools(
            roles=tuple(tools.get("roles", ())),
            names=tuple(tools.get("names", ())),
            without=tuple(tools.get("without", ())),
            memory=tools.get("memory", False),
        ),
        blocks=tuple(_block(block) for block in spec.get("blocks", ())),
        model_tier=spec["modelTier"],
        lifecycle=spec["lifecycle"],
        digest=digest(canonical_json(whole)),
        context_window=settings.get("contextWindow", CONTEXT_WINDOW),
        parallel_tool_calls=settings.get("parallelToolCalls", True),
        enable_sleeptime=settings.get("enableSleeptime", False),
    )


def _block(raw: dict[str, Any]) -> NewBlock:
    return NewBlock(
        label=raw["label"],
        value=raw.get("value", ""),
        description=raw["description"],
        type=raw.get("type", "global"),
        soft_limit=raw.get("softLimit"),
        hard_limit=raw.get("hardLimit"),
        on_limit=raw.get("onLimit", "reject"),
        read_only=raw.get("readOnly", False),
    )
