"""What an approval is for, in full: the procedure that would run, and what it is given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.planner import Planning, decompile
from dcf.sop import print_markdown


def procedure_text(planning: Planning) -> Text:
    """The workflow as a procedure: steps with their texts and conditions, guardrails, budgets."""
    document = dict(planning.workflow or {})
    if planning.source is not None and planning.source["kind"] == "workflow":
        # The words that a stored file has about itself are not what its states do.
        document.pop("plan", None)
    return Text(print_markdown(decompile(document).sop).rstrip("\n"))


def input_table(planning: Planning) -> Table:
    """The values of the run's input, and what happens to those that nobody gave."""
    table = Table(box=None, pad_edge=False)
    for heading in ("input", "value", "from"):
        table.add_column(heading, overflow="fold")
    for name, one in _properties(planning.workflow or {}).items():
        if name not in planning.input:
            default = one.get("default")
            given = ("", "left out") if default is None else (_as_text(default), "default")
        else:
            given = (_as_text(planning.input[name]), "your answer")
        table.add_row(*map(Text, (name, *given)))
    for name in planning.input.keys() - _properties(planning.workflow or {}).keys():
        table.add_row(*map(Text, (name, _as_text(planning.input[name]), "your answer")))
    return table


def _properties(workflow: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    schema = workflow.get("workflow_input_schema")
    found = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: one if isinstance(one, dict) else {} for name, one in found.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
