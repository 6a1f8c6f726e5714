"""``dcf skills``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.trouble import BadInput
from dcf.cli.validate import judge
from dcf.problem import Problem, has_errors
from dcf.skills import generate_all, validate_sources


def check_sources(src: Path) -> Answer:
    """The verdict on the sources in ``src``."""
    _demand_folder(src)
    return judge(validate_sources(src), f"{src} checked")


def generate(src: Path, out: Path) -> Answer:
    """Bring ``out`` up to date with ``src``."""
    _demand_folder(src)
    result = generate_all(src, out)
    counts = f"{len(result.written)} written, {len(result.removed)} removed"
    done = f"{out}: {counts}, {len(result.unchanged)} unchanged"
    answer = judge(result.problems, done)
    if has_errors(result.problems):
        return answer
    files = {key: value for key, value in result.to_dict().items() if key not in ("ok", "problems")}
    return replace(answer, fields={**answer.fields, "out": str(out), **files})


def _demand_folder(src: Path) -> None:
    if not src.is_dir():
        hint = "name the folder with --src"
        raise BadInput([Problem("CLI_FOLDER", "there is no such folder", hint=hint, file=str(src))])
