"""What a case gave: one line of a results file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.asl import JSON
from dcf.conformance.corpus import BadCorpus, read_objects
from dcf.problem import Problem

SKIP = "SKIP"
"""Status of a case that was not tried; ``cause`` says why."""

CRASHED = "ERROR"
"""Status of a case on which the program itself failed: always a defect."""


@dataclass(frozen=True, slots=True)
class Result:
    """``status`` is an execution's (``SUCCEEDED`` …), a check's (``VALID``, ``INVALID``), SKIP or
    CRASHED. ``seconds`` is the time that this case took here. ``mismatches`` tell what
    differs besides: arguments of Tasks, or stages and next state of a state that was run alone.
    """

    name: str
    status: str
    output: JSON = None
    error: str | None = None
    cause: str | None = None
    seconds: float = 0.0
    mismatches: tuple[str, ...] = field(default=())

    @property
    def is_skipped(self) -> bool:
        return self.status == SKIP

    def to_json(self) -> dict[str, Any]:
        """The line of a results file."""
        return {
            "name": self.name,
            "status": self.status,
            "output": self.output,
            "error": self.error,
            "cause": self.cause,
            "seconds": round(self.seconds, 6),
            "arguments_ok": not self.mismatches,
            "argument_mismatches": list(self.mismatches),
        }


def write_results(file: Path, results: Iterable[Result]) -> None:
    """Write ``results`` into ``file``, a line each; its folder is made. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as lines:
        for result in results:
            lines.write(json.dumps(result.to_json()) + "\n")


def read_results(file: Path) -> dict[str, Result]:
    """The results in ``file`` by name. Raises BadCorpus, and OSError when it is unreadable."""
    problems: list[Problem] = []
    results: dict[str, Result] = {}
    for number, value in read_objects(file, problems):
        name, status = value.get("name"), value.get("status")
        if not isinstance(name, str) or not isinstance(status, str):
            message = "`name` and `status` must be texts"
            problems.append(Problem("CLI_CORPUS", message, file=str(file), line=number))
            continue
        results[name] = Result(
            name,
            status,
            value.get("output"),
            value.get("error"),
            value.get("cause"),
            float(value.get("seconds") or 0.0),
            tuple(value.get("argument_mismatches") or ()),
        )
    if problems:
        raise BadCorpus(problems)
    return results
