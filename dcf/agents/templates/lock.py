"""``prompts.lock``: which digest each version of a template and of its prompt has, so that nobody
changes one without a new version. ``python -m dcf.agents.templates.lock`` brings it up to date."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.agents.templates.library import prompts_folder, templates
from dcf.agents.templates.template import Template
from dcf.digest import digest, file_json
from dcf.problem import Problem

LOCK = "prompts.lock"
_COMMAND = "python -m dcf.agents.templates.lock"


def lock_of(known: Mapping[str, Template]) -> dict[str, Any]:
    """What the lock file says of ``known``."""
    return {"lockVersion": 1, "templates": {name: _entry(one) for name, one in known.items()}}


def _entry(template: Template) -> dict[str, str]:
    return {
        "version": template.version,
        "digest": template.digest,
        "prompt": template.prompt.name,
        "promptVersion": template.prompt.version,
        "promptDigest": digest(template.prompt.text.encode()),
    }


def lock_problems(locked: Mapping[str, Any], known: Mapping[str, Template]) -> Iterator[Problem]:
    """What changed since ``locked`` was written: without a new version, or not yet in it."""
    before: Mapping[str, Mapping[str, str]] = locked.get("templates", {})
    for name, template in known.items():
        old, new = before.get(name), _entry(template)
        if old == new:
            continue
        place = f"/templates/{name}"
        if old is None or old.keys() != new.keys():
            missing = "is not" if old is None else "is not whole"
            yield Problem("PROMPT_LOCK", f"{name} {missing} in {LOCK}", place, f"run {_COMMAND}")
            continue
        if (old["prompt"], old["promptVersion"]) == (new["prompt"], new["promptVersion"]) and (
            old["promptDigest"] != new["promptDigest"]
        ):
            message = f"the prompt {new['prompt']} changed and is still {new['promptVersion']}"
            yield Problem("PROMPT_VERSION", message, place, "raise its version, and the template's")
        if old["version"] == new["version"]:
            message = f"the template {name} changed (or its prompt) and is still {new['version']}"
            yield Problem("TEMPLATE_VERSION", message, place, "raise its version")
        else:
            yield Problem("PROMPT_LOCK", f"{name} is newer than {LOCK}", place, f"run {_COMMAND}")
    for name in sorted(before.keys() - known.keys()):
        yield Problem("PROMPT_LOCK", f"{name} is in {LOCK} only", "", f"run {_COMMAND}")


def main() -> int:
    """Write the lock; 1, and nothing is written, if something changed without a new version."""
    file = prompts_folder() / LOCK
    known = templates()
    locked = json.loads(file.read_bytes()) if file.is_file() else {}
    refused = [one for one in lock_problems(locked, known) if one.code != "PROMPT_LOCK"]
    for problem in refused:
        print(problem, file=sys.stderr)
    if not refused:
        file.write_bytes(file_json(lock_of(known)))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
