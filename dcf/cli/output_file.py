"""Files that a command writes: never over what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dcf.cli.trouble import BadInput
from dcf.problem import Problem


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]) -> None:
    """Raises BadInput when a file to write is one of ``inputs``, or another one to write. Both are
    by what the user calls them, as ``--out``."""
    taken = {name: file for name, file in inputs.items() if file is not None}
    problems = []
    for option, file in outputs.items():
        if file is None:
            continue
        other = next((name for name, there in taken.items() if _is_same(file, there)), None)
        if other is not None:
            what = f"{option} would be written over {other}"
            hint = "choose another file"
            problems.append(Problem("CLI_OUT", what, hint=hint, file=str(file)))
        taken.setdefault(option, file)
    if problems:
        raise BadInput(problems)


def _is_same(file: Path, there: Path) -> bool:
    try:
        if file.samefile(there):
            # Nothing is kept in a device: `--out /dev/stdout --report /dev/stdout` is no mistake.
            return not file.is_char_device()
    except (OSError, ValueError):
        pass  # one of them does not exist yet
    return file.absolute() == there.absolute()
