"""The audit trail of an example: its files, and what ``summary.json`` promises."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

WHEN = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
COUNT = {"type": "integer", "minimum": 0}
SUMMARY = {
    "type": "object",
    "required": [
        "workflow_id",
        "workflow_name",
        "final_status",
        "started_at",
        "finished_at",
        "finalized_at",
        "execution_summary",
        "cost_summary",
        "output",
        "terminal_outputs",
        "errors",
        "audit_trail_path",
    ],
    "properties": {
        "workflow_id": {"type": "string"},
        "workflow_name": {"type": "string"},
        "final_status": {"enum": ["succeeded", "failed", "timed_out", "cancelled"]},
        "started_at": WHEN,
        "finished_at": WHEN,
        "finalized_at": WHEN,
        "execution_summary": {
            "type": "object",
            "required": ["total_states", "by_status", "succeeded", "failed", "cancelled"],
            "properties": {
                "total_states": COUNT,
                "succeeded": COUNT,
                "failed": COUNT,
                "cancelled": COUNT,
                "by_status": {"type": "object", "additionalProperties": COUNT},
            },
        },
        "cost_summary": {
            "type": "object",
            "required": ["total_llm_calls", "total_tool_calls", "total_tokens"],
        },
        "terminal_outputs": {
            "type": "array",
            "items": {"type": "object", "required": ["state", "output"]},
        },
        "errors": {
            "type": "array",
            "items": {"type": "object", "required": ["state", "visit", "error", "cause"]},
        },
        "audit_trail_path": {"type": "string"},
    },
}


async def test_a_run_leaves_the_documented_files(play: Any) -> None:
    ended = await play("order-processing", "order-normal")

    files = {str(file.relative_to(ended.folder)) for file in ended.folder.rglob("*.*")}
    assert {
        "workflow.json",
        "summary.json",
        "history.jsonl",
        "control_plane/meta.json",
        "control_plane/states/ShipOrder.json",
        "control_plane/states/HoldItems.json",
        "control_plane/states/HoldItems[1]%2FHoldItem.json",
        "data_plane/outputs/ShipOrder.json",
        "data_plane/audit/finalize.json",
    } <= files
    assert not {name for name in files if name.endswith(".part")}


async def test_the_summary_of_a_success_has_its_output(play: Any) -> None:
    ended = await play("order-processing", "order-normal")

    summary = ended.file("summary.json")
    Draft202012Validator(SUMMARY).validate(summary)
    assert summary["final_status"] == "succeeded"
    assert summary["output"] == ended.output
    assert summary["terminal_outputs"] == [{"state": "WriteReceipt", "output": ended.output}]
    assert summary["errors"] == []
    assert summary["execution_summary"]["by_status"].keys() <= {"done", "skipped"}


async def test_the_summary_counts_tool_calls_and_no_model_calls(play: Any) -> None:
    ended = await play("order-processing", "order-normal")

    cost = ended.file("summary.json")["cost_summary"]
    assert cost["total_tool_calls"] == len(ended.calls) == 11
    assert cost["total_llm_calls"] == 0


async def test_the_summary_of_a_failure_names_the_state_and_the_error(play: Any) -> None:
    ended = await play("order-return", "return-over-limit")

    summary = ended.file("summary.json")
    Draft202012Validator(SUMMARY).validate(summary)
    assert summary["final_status"] == "failed"
    assert summary["output"] is None
    assert [(entry["state"], entry["error"]) for entry in summary["errors"]] == [
        ("ApprovalNeeded", "ApprovalNeeded")
    ]


async def test_the_history_tells_of_a_caught_error_and_what_followed(play: Any) -> None:
    ended = await play("order-processing", "order-declined-card")

    lines = (ended.folder / "history.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    done = [event for event in events if event["type"] == "StateDone"]
    charged = next(event for event in done if event["path"] == "ChargePayment")
    assert charged["next"] == "GiveUpOrder"


async def test_the_workflow_is_kept_as_it_was_submitted(play: Any) -> None:
    ended = await play("delivery-watch", "delivery-arrived")

    assert ended.file("workflow.json")["workflow_name"] == "delivery-watch"
    assert ended.file("control_plane/meta.json")["workflow_name"] == "delivery-watch"
