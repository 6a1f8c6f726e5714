"""The page of errors: what exceptions say, how a Task fails, what a script may answer."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from control_plane import ControlPlaneError
from control_plane.embedded import ServerUnusable
from dcf.advisors import AdvisorProblem
from dcf.agents.loading import AgentApprovalError
from dcf.asl import AslError
from dcf.cli.reference_pages.markdown import page, table
from dcf.cli.reference_pages.source_calls import called_name, source_trees, text_of
from dcf.cli.reference_pages.task_errors import TASK_ERRORS
from dcf.code import CodeProblem
from dcf.documents import DocumentProblem
from dcf.knowledge import KnowledgeError
from dcf.memory import MemoryProblem
from dcf.planner import PlanningProblem
from dcf.retrieval import FolderUnusable, RetrievalProblem, StoreProblem
from dcf.sessions import SessionProblem
from dcf.skills import SkillError
from dcf.tools import ToolsError
from dcf.workflow import WorkflowError

_ROOMS: dict[str, type[Exception]] = {
    "The Redis server": ServerUnusable,
    "The control plane": ControlPlaneError,
    "Workflows": WorkflowError,
    "Skills": SkillError,
    "Tools": ToolsError,
    "Planner": PlanningProblem,
    "Sessions": SessionProblem,
    "Approvals of agents' calls": AgentApprovalError,
    "The Reflector": AdvisorProblem,
    "The knowledge graph": KnowledgeError,
    "The memory": MemoryProblem,
    "Retrieval": RetrievalProblem,
    "Logged items in a folder": FolderUnusable,
    "Logged items in PostgreSQL": StoreProblem,
    "Code": CodeProblem,
    "Documents": DocumentProblem,
    "Amazon States Language": AslError,
}
_NOTES = frozenset({"ErrorNote", "NotSo", "EnvironmentTrouble"})
_CODE = re.compile(r"[a-z][a-z_]+")

_INTRO = """\
Three kinds of names. A **Task** fails with an error name that `Retry` and `Catch` of its workflow
can match. A **command** or a Python call fails with an error that has a stable `code`. A **script**
refuses a write with a code of its own; that is an expected race, a result and not an error, and its
meaning stands with [the script](scripts.md)."""
_TASKS = """\
A tool that fails and says why in a member `code` or `error` gives its Task that name
(`CardDeclined`) instead of `DCF.ToolError`. `States.TaskFailed` in `ErrorEquals` matches every
name but `States.Timeout`, `States.Runtime` and `States.DataLimitExceeded`."""
_CODES = "In braces stands what the message fills in. Codes are in `error.code` of `--json`."


def errors_page() -> str:
    """The text of ``errors.md``."""
    tasks = table(("name", "when"), ((f"`{name}`", text) for name, text in TASK_ERRORS.items()))
    parts = [f"## How a Task or a run fails\n\n{_TASKS}\n\n{tasks}", f"## Error codes\n\n{_CODES}"]
    _load("control_plane", "dcf")
    seen: set[type] = set()
    for title, base in _ROOMS.items():
        rows = [_row(kind) for kind in _family(base) if kind not in seen]
        seen.update(_family(base))
        parts.append(f"### {title}\n\n{table(('code', 'class', 'message', 'hint'), rows)}")
    rows_of_commands = sorted(set(_command_codes()))
    commands = table(("code", "message", "hint"), rows_of_commands)
    parts.append(f"### Commands\n\n{commands}")
    return page("Errors", _INTRO, *parts)


def _load(*packages: str) -> None:
    """Import all of them: only what is loaded is known as a subclass."""
    for name in packages:
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


def _family(base: type[Exception]) -> list[type[Exception]]:
    """``base`` and every class below it that DCF defines, parents first, by module."""
    found = [base]
    for child in sorted(base.__subclasses__(), key=lambda kind: kind.__module__):
        if child.__module__.partition(".")[0] in ("dcf", "control_plane"):
            found += [kind for kind in _family(child) if kind not in found]
    return found


def _row(kind: type[Exception]) -> tuple[str, str, str, str]:
    code = getattr(kind, "code", "")
    own = isinstance(code, str) and code
    hint = getattr(kind, "remedy", "") or getattr(kind, "hint", "")
    return (
        f"`{code}`" if own else "",
        kind.__name__,
        inspect.cleandoc(kind.__doc__ or "").replace("``", "`"),
        # One that depends on the error is a property.
        hint if isinstance(hint, str) else "",
    )


def _command_codes() -> Iterator[tuple[str, str, str]]:
    """What commands report by themselves: (code, message, hint)."""
    for room, tree in source_trees():
        if room != "dcf.cli":
            continue
        for function in _functions(tree):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and called_name(call) in _NOTES and call.args:
                    first = call.args[0]
                    code = first.value if isinstance(first, ast.Constant) else None
                    if isinstance(code, str) and _CODE.fullmatch(code):
                        texts = [text_of(node, function, call.lineno) for node in call.args[1:3]]
                        message, hint = [*texts, "", ""][:2]
                        yield f"`{code}`", message, hint


def _functions(tree: ast.Module) -> Iterable[ast.AST]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
