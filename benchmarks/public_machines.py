"""Published state machines, checked as `dcf asl validate` does: none that is valid may be refused.

``python -m benchmarks.public_machines FOLDER``: FOLDER holds clones as ``owner/name``, bare or not.
``public_machines.json`` says what is read: by repository its commit, the path of each machine (in a
page, ``path#N`` is its N-th example) and a digest, and which of them are not valid, and why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clones import file_of
from dcf.asl import validate

_LIST = Path(__file__).with_suffix(".json")
_EXAMPLE = re.compile(r"```(?:json)?\s*\n(\{.*?\n\})\s*\n```", re.DOTALL)
_COLUMNS = ("accepted", "refused", "not valid, refused", "not valid, accepted", "not as listed")


def main() -> int:
    """Print a table by repository; 1 where a machine is judged wrongly."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folder", type=Path, help="clones as owner/name")
    folder: Path = arguments.parse_args().folder
    table = Table("repository", *_COLUMNS, box=None)
    console = Console(width=140)
    total: Counter[str] = Counter()
    for repository, listed in json.loads(_LIST.read_text(encoding="utf-8")).items():
        if not (folder / repository).is_dir():
            console.print(f"not there: {folder / repository}")
            continue
        counts: Counter[str] = Counter()
        for name, digest in listed["machines"].items():
            definition = _machine(folder / repository, listed["commit"], name)
            verdict, why = _judged(definition, digest, name in listed.get("not_valid", {}))
            counts[verdict] += 1
            if why:
                console.print(f"{repository} {name}: {verdict}: {why}", highlight=False)
        table.add_row(repository, *(str(counts[column]) for column in _COLUMNS))
        total += counts
    table.add_row("all", *(str(total[column]) for column in _COLUMNS))
    console.print(table)
    judged_wrongly = total["refused"] + total["not valid, accepted"] + total["not as listed"]
    return 1 if judged_wrongly or not total else 0


def _judged(definition: Any, digest: str, not_valid: bool) -> tuple[str, str]:
    """A column, and the first problem where the verdict is wrong."""
    if digest_of(definition) != digest:
        return "not as listed", "it is not in this clone, or not as it was"
    errors = [problem for problem in validate(definition) if problem.is_error]
    if not_valid:
        return ("not valid, refused", "") if errors else ("not valid, accepted", "no error")
    return ("refused", f"{errors[0].path}: {errors[0].message}") if errors else ("accepted", "")


def digest_of(definition: Any) -> str:
    """The first 16 digits of the SHA-256 of a machine as JSON with sorted members."""
    text = json.dumps(definition, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _machine(clone: Path, commit: str, name: str) -> Any:
    """A machine of a clone; None where it has none of this name, or none that is JSON."""
    path, _, number = name.partition("#")
    text = file_of(clone, commit, path).decode(errors="replace")
    try:
        return json.loads(_EXAMPLE.findall(text)[int(number)] if number else text)
    except (ValueError, IndexError):
        return None


if __name__ == "__main__":
    sys.exit(main())
