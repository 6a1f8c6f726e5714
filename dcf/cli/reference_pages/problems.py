"""The page of problems: every code that a check of user documents can report."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from dcf.asl.vocabulary import PROBLEM_CODES
from dcf.cli.reference_pages.markdown import page, table
from dcf.cli.reference_pages.source_calls import CodeCall, code_calls, source_trees

_CODE = re.compile(
    r"(?:AGENT_FILE|AGENT_SKILL|ASL|WF|SKILL|TOOL|REG|POLICY|LOCK|CLI|MCP|PROMPT|SOP|PLAN|TEMPLATE|GUIDELINE|STRATEGIST|CONDUCTOR)_[A-Z0-9_]+"
)
_ROOMS = {
    "WF": "Workflow documents",
    "ASL": "Mocked Tasks",
    "SKILL": "Skills and their YAML files",
    "AGENT_SKILL": "Agent Skills (folders with SKILL.md)",
    "SOP": "Standard operating procedures",
    "PLAN": "Plans: procedures on their way to workflows",
    "GUIDELINE": "Guidelines of the Reflector and of the Strategist",
    "STRATEGIST": "Rules of the Strategist",
    "CONDUCTOR": "Rules of a conductor",
    "AGENT_FILE": "Agent files (.af)",
    "TEMPLATE": "Templates of agents",
    "PROMPT": "Prompts of agents",
    "TOOL": "Tools, their cases, the stub server",
    "REG": "The registry of tool servers",
    "POLICY": "The policy",
    "LOCK": "The schemas of real servers (tools.lock.json)",
    "CLI": "The command line",
    "MCP": "Arguments of MCP tools",
}
# What the message comes from somewhere else for: the schema's words, the system's, another error's.
_COMPUTED = {
    "AGENT_FILE_NUMBER": "a number that JSON does not have, or that is too large",
    "AGENT_SKILL_NEEDS": "a skill that it depends on is not in the source folder",
    "AGENT_SKILL_LOST": "the manifest says something that a source cannot say",
    "AGENT_SKILL_FOLDER_MISSING": "there is no such folder, or no SKILL.md in it",
    "AGENT_SKILL_EDITED": "a file of an exported skill is not what its dcf.manifest.json says",
    "ASL_MOCK_YAML": "a mocks file is no YAML that can be read",
    "CLI_ACCESS": "`DCF_ACCESS_DAYS` is not a number of days",
    "CLI_APPROVAL_TOKEN": "`DCF_APPROVAL_TOKEN` is no token, is `DCF_TOKEN`, or can be guessed",
    "CLI_CONTEXT": "`DCF_CONTEXT`, or a number beside it, is none of what it can be",
    "CLI_EXTRACT": "`DCF_EXTRACT`, or a number beside it, is none of what it can be",
    "CLI_HANDLERS": "what `--handlers` names is no dict of async functions",
    "CLI_ID": "the run id has characters that an id cannot have, or too many",
    "CLI_NO_TOKEN": "other machines would reach a server that has no token, or a weak one",
    "CLI_RETENTION_RUNS": "a part of `DCF_RETENTION` does not say how long runs are kept",
    "CLI_RETRIEVAL": "a setting of `dcf retrieval` cannot be used, or a root is no folder",
    "CLI_SIM_ENDLESS": "an execution never ends: a Task never answers, and nothing limits its time",
    "CLI_SIM_LONG": "an execution takes too many steps to be simulated",
    "CLI_SEEDS": "`--seeds` is no range, or stands beside `--seed`",
    "CLI_CORPUS": "a line of a corpus or of results cannot be used, or no case is left to run",
    "CLI_SERVER": "a tool server that is named on the command line is not known",
    "CLI_STUB_PLACE": "a setting of where the stub server listens cannot be used",
    "CLI_START": "`--start` is no time",
    "CLI_STATE_TEST": "a state cannot be tested like this: mocks or options do not fit it",
    "CLI_UNKNOWN_SERVER": "a skill of the workflow calls a tool server that is not in the registry",
    "LOCK_CASE_ANSWER": "an authored answer is none that the locked schema of the real server has",
    "LOCK_CASE_ARGUMENTS": "a case's arguments do not fit the locked schema of the real server",
    "MCP_ARGUMENT": "an argument is missing, of another type, out of bounds, or no text at all",
    "MCP_JSON": "a parameter that ends with `_json` holds no JSON text",
    "PLAN_ARGUMENT": "the tools of a step must be given what nothing before it has written",
    "PLAN_DEADLINE": "a loop, a wait or a parallel step has a deadline, which only its steps can",
    "PLAN_UNREACHED": "no way leads to a step",
    "PLAN_DRAFT": "no procedure without problems came of the drafts of the model",
    "PLAN_MODEL": "the model that drafts could not be asked, or its budget is used up",
    "PLAN_NO_MATCH": "nothing stored fits the objective, and no model is there to draft it",
    "PLAN_BINDING": "a step takes what nobody writes by this name; another value has its shape",
    "PLAN_JOIN": "a step needs what several branches give, and no step says that it writes it",
    "PLAN_UNWRITTEN": "a step reads what nothing before it writes, or not on every way to it",
    "SKILL_COMPLEXITY_SKILL": "a skill whose complexity is asked for is not known, or no manifest",
    "SKILL_LOAD_MANIFEST": "a manifest has values that no JSON text can hold",
    "SKILL_LOAD_UNKNOWN_SKILL": "the catalog has no such skill, or no version in the range",
    "SKILL_LOAD_UNREADABLE": "a manifest's file cannot be read",
    "SKILL_SOURCE_MISSING": "a folder or file that skills are generated from is missing",
    "SKILL_YAML_AMBIGUOUS": "yes, no, on or off: YAML reads a boolean",
    "SKILL_YAML_VALUE": "a value that YAML implementations read differently",
    "CLI_USAGE": "the command line cannot be understood",
    "SKILL_MANIFEST": "a manifest does not fit its schema",
    "TOOL_RECORD_FILE": "a recording cannot be written into the tools file",
    "TOOL_STUB": "the stub's configuration is no JSON",
    "TOOL_STUB_SCHEMA": "the params of a tool in the stub's configuration are no JSON Schema",
    "TOOL_STUB_SHAPE": "the stub's configuration does not fit its schema",
    "WF_UNKNOWN_SKILL": "a state names a skill that is not there, or one that needs such a skill",
    "WF_SCHEMA": "the document does not fit the workflow schema",
}
_ASL_INTRO = """\
As strict as AWS and no stricter: what `CreateStateMachine` refuses is an error, what it accepts and
an author hardly means is a warning. Each example gives its code with `dcf asl validate`."""
_INTRO = """\
Checks report everything they find at once. A problem has a `code` (stable: scripts may match it),
a message, a place (`path` is a JSON pointer into the document; `file`, `line`, `column`), a `hint`
and a `severity`. An ellipsis stands for what the report fills in. Codes marked *warning* do not
stop anything."""


def problems_page() -> str:
    """The text of ``problems.md``."""
    codes = _all_codes() - PROBLEM_CODES.keys()
    calls: dict[str, list[CodeCall]] = defaultdict(list)
    for call in code_calls(codes):
        calls[call.code].append(call)
    parts = []
    for prefix, title in _ROOMS.items():
        if prefix == "ASL":
            parts.append(_catalogue())
        rows = [_row(code, calls[code]) for code in sorted(codes) if code.startswith(f"{prefix}_")]
        if rows:
            parts.append(f"## {title}\n\n{table(('code', 'what is wrong', 'what to do'), rows)}")
    return page("Problem codes", _INTRO, *parts)


def _catalogue() -> str:
    """The codes of definitions, from their own catalogue."""
    rows = [
        (
            f"`{code}`{' *warning*' if entry.is_warning else ''}",
            entry.rule,
            entry.hint,
            f"`{entry.shown}`",
        )
        for code, entry in sorted(PROBLEM_CODES.items())
    ]
    heading = ("code", "rule", "what to do", "a definition that breaks it")
    return f"## Definitions in the Amazon States Language\n\n{_ASL_INTRO}\n\n{table(heading, rows)}"


def _all_codes() -> frozenset[str]:
    """Every code that stands in the source as a text of its own."""
    found: set[str] = set()
    errors: set[object] = set()
    for _, tree in source_trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str) and _CODE.fullmatch(node.value):
                    found.add(node.value)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and _names_code(node):
                errors.add(getattr(node.value, "value", None))
    # The codes of exceptions are on the page of errors; what a room exports is no code.
    return frozenset(found - errors - _exported() - {_CODE.pattern})


def _exported() -> set[str]:
    return {
        name.value
        for _, tree in source_trees()
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.List)
        and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
        for name in node.value.elts
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    }


def _names_code(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a text, or another constant, is assigned to ``code``."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    named = any(isinstance(one, ast.Name) and one.id == "code" for one in targets)
    return named and isinstance(node.value, ast.Constant)


def _row(code: str, calls: list[CodeCall]) -> tuple[str, str, str]:
    messages = list(dict.fromkeys(call.message for call in calls if call.message))
    hints = list(dict.fromkeys(call.hint for call in calls if call.hint))
    text = "; ".join(messages) or _COMPUTED.get(code, "")
    if not text:
        raise LookupError(f"{code} is reported without a message that can be read; see _COMPUTED")
    mark = " *warning*" if calls and all(call.warning for call in calls) else ""
    return f"`{code}`{mark}", text, "; ".join(hints)
