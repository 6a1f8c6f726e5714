"""The entry point: one place that runs a command, presents its answer and explains its errors."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcf.cli.answer import Answer, ErrorNote, present
from dcf.cli.exits import BAD_INPUT, FAILED, INTERRUPTED, OK
from dcf_agents.telemetry import switch_off_telemetry

if TYPE_CHECKING:
    from typer.exceptions import TyperException

_INTERRUPTED = Answer(
    status="interrupted", error=ErrorNote("interrupted", "interrupted"), exit_code=INTERRUPTED
)


# Objects made before the garbage collector looks, in place of 700: most that a command makes are
# classes and functions of modules, which stay. Looking at them takes a seventh of the start.
_COLLECT_AFTER = 50_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``dcf`` with ``arguments`` (those of the process when None) and exit."""
    gc.set_threshold(_COLLECT_AFTER)
    switch_off_telemetry()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets its number instead of our traceback.
            stream.reconfigure(errors="backslashreplace")
    code = run_command(list(sys.argv[1:] if arguments is None else arguments))
    # The process gives back its memory whole: looking for garbage once more at its end takes a
    # fifth of what its start took.
    gc.freeze()
    sys.exit(code)


def run_command(arguments: list[str]) -> int:
    """Run one command; its exit code. Nothing escapes, not even a defect."""
    as_json = "--json" in _before_separator(arguments)
    try:
        if arguments == ["--version"]:
            _say_version()
            return OK
        answer = _answer_of(arguments)
        if answer is None:
            return OK
        present(answer, as_json=as_json)
    except BrokenPipeError:
        # Whoever read our output has enough; Python must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        # A full disk behind a redirection, say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"error: the answer cannot be written: {error.strerror}\n")
        return FAILED
    return answer.exit_code


def _say_version() -> None:
    """What scripts ask for first and often: it needs none of the commands."""
    from dcf_agents.installation import installed_version

    sys.stdout.write(f"dcf {installed_version()}\n")
    sys.stdout.flush()


def _answer_of(arguments: list[str]) -> Answer | None:
    """The answer of the command; None when it printed its help."""
    try:
        from dcf.cli.app import build_app

        app = build_app(arguments[0] if arguments else None)
        answer = app(arguments, prog_name="dcf", standalone_mode=False)
        if answer == INTERRUPTED:
            # What typer makes of Ctrl-C where the command has no answer of its own to it.
            return _INTERRUPTED
        return answer if isinstance(answer, Answer) else None
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last one who can say it without a traceback
        from typer.exceptions import TyperException

        return _usage(error, arguments) if isinstance(error, TyperException) else _trouble(error)


def _usage(error: TyperException, arguments: list[str]) -> Answer:
    """A command line that cannot be understood."""
    from typer._click.exceptions import NoArgsIsHelpError

    # What pydantic puts before the text of a check says nothing to a user.
    message = error.format_message().replace(": Value error, ", ": ")
    if isinstance(error, NoArgsIsHelpError):
        return Answer(show=[message], exit_code=BAD_INPUT)
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path if context else 'dcf'} --help`"
    problem = {"code": "CLI_USAGE", "message": message, "hint": hint, "severity": "error"}
    return Answer(
        {"problems": [problem]},
        status="error",
        error=ErrorNote("usage", message, hint),
        exit_code=BAD_INPUT,
    )


def _trouble(error: Exception) -> Answer:
    from dcf.cli.trouble import explain_error

    trouble = explain_error(error)
    if trouble is not None:
        return trouble.to_answer()
    from dcf.cli.defect import report_defect

    return report_defect(error, os.environ)


def _before_separator(arguments: list[str]) -> list[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
