"""The pipeline: read everything, check everything, then write everything or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.problem import Problem, has_errors
from dcf.skills.generation.artefacts import build_artefacts
from dcf.skills.generation.deposit import Deposit, compare, deposit, sole_writer
from dcf.skills.generation.report import report
from dcf.skills.generation.sources import read_sources


@dataclass(frozen=True, slots=True)
class GenerateResult:
    """``ok`` without errors. Paths are below the generated folder; with errors all are empty.

    ``report`` has what the parts of the pipeline did, in the words of the earlier system.
    """

    problems: tuple[Problem, ...]
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    report: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)

    def to_dict(self) -> dict[str, Any]:
        """``{ok, problems, written, removed, unchanged, summary, manifests_result,
        stub_config_result, registry_result, schemas_result}``."""
        return {
            "ok": self.ok,
            "problems": [problem.to_dict() for problem in self.problems],
            "written": list(self.written),
            "removed": list(self.removed),
            "unchanged": list(self.unchanged),
            **self.report,
        }


def validate_sources(skills_src_dir: Path) -> list[Problem]:
    """Everything that is wrong in the source folder, in order of file, line and column."""
    return list(read_sources(skills_src_dir).problems)


def generate_all(skills_src_dir: Path, generated_dir: Path) -> GenerateResult:
    """Bring ``generated_dir`` up to date with the sources; with errors nothing is written.

    The same sources give the same bytes, on every machine and in whatever order files are listed.
    """
    if not generated_dir.is_dir():
        sources = read_sources(skills_src_dir)
        if not sources.ok:
            return GenerateResult(sources.problems, report=report(sources, generated_dir))
        try:
            generated_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return GenerateResult((*sources.problems, write_problem(error, generated_dir)))
    try:
        # The sources are read in it too: who writes last has read last.
        with sole_writer(generated_dir):
            return _generate(skills_src_dir, generated_dir, write=True)
    except OSError as error:
        return GenerateResult((write_problem(error, generated_dir),))


def check_generated(skills_src_dir: Path, generated_dir: Path) -> GenerateResult:
    """What ``generate_all`` would do, without doing it: up to date when ``written`` and ``removed``
    are empty."""
    return _generate(skills_src_dir, generated_dir, write=False)


def _generate(skills_src_dir: Path, generated_dir: Path, *, write: bool) -> GenerateResult:
    sources = read_sources(skills_src_dir)
    if not sources.ok:
        return GenerateResult(sources.problems, report=report(sources, generated_dir))
    files = build_artefacts(sources.tree, sources.tools, sources.dependencies)
    try:
        done: Deposit = (deposit if write else compare)(files, generated_dir)
    except OSError as error:
        failed = (*sources.problems, write_problem(error, generated_dir))
        return GenerateResult(failed)
    told = report(sources, generated_dir)
    return GenerateResult(sources.problems, done.written, done.removed, done.unchanged, told)


def write_problem(error: OSError, target: Path) -> Problem:
    """Why ``target`` could not be written."""
    reason = error.strerror or type(error).__name__
    hint = "see that the folder can be written and has space, then generate again"
    message = f"cannot be written: {reason}"
    return Problem("SKILL_WRITE_FAILED", message, hint=hint, file=str(error.filename or target))
