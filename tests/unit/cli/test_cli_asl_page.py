"""The page of the language is made from its tables, and names no recorded case."""

from __future__ import annotations

import json
from importlib import resources

from dcf.asl.intrinsics.catalogue import INTRINSICS
from dcf.asl.reading.fields import STATE_FIELDS
from dcf.cli.reference_pages.asl import asl_page


def test_everything_in_the_tables_is_on_the_page() -> None:
    text = asl_page()
    for name in STATE_FIELDS:
        assert f"**{name}**" in text
    for name in (*INTRINSICS, "StringMatches", "TimestampEqualsPath", "$partition", "$sum"):
        assert f"`{name}`" in text
    for name in ("States.QueryEvaluationError", "States.ItemReaderFailed", "JSONL", "IsPresent"):
        assert name in text


def test_the_kept_counts_are_shown_and_hold_no_case() -> None:
    file = resources.files("dcf.cli.reference_pages") / "conformance.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    execute = kept["pure"]["ops"]["execute"]
    assert f"| execute | {execute['cases']} |" in asl_page()
    members = {"date", "command", "cases", "skipped", "ops", "tags", "seconds"}
    assert all(told.keys() == members for told in kept.values())
