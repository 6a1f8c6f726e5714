"""What a run of chaos came to: a document, a table for people, and whether it is a success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from tests.chaos.deployment import Crew
from tests.chaos.faults import Faults
from tests.chaos.verdict import Guarantee, Verdict

OWN_ENDS = "workers that ended by themselves"
_OWN_ENDS_ARE = (
    f"{OWN_ENDS}: no fault ended them. A Task that kills its worker did, or they found no usable "
    "Redis at their start, or could not keep their leases and gave their work back. Each is "
    "replaced; what they had in work is judged by the guarantees."
)
LONG_MINUTES = 1.0
"""A campaign over this must test everything that it can."""
INTERRUPTED = 130
"""The exit code of a campaign that was ended by a signal, as shells know it."""


def report_of(
    seed: int,
    minutes: float,
    faults: Faults,
    refused: Mapping[str, int],
    crew: Crew,
    of: Verdict,
    *,
    interrupted: bool = False,
) -> dict[str, Any]:
    """The whole report, of JSON values. Every kind of fault has a count or a reason."""
    return {
        "seed": seed,
        "minutes": minutes,
        "interrupted": interrupted,
        "faults": dict(faults.happened.most_common()),
        "not possible here": faults.impossible,
        "refused commands": dict(refused),
        "workers started": crew.starts,
        OWN_ENDS: crew.own,
        **of.to_json(),
    }


def table(report: Mapping[str, Any]) -> Table:
    """The report for people."""
    shown = Table(title="DCF chaos", caption=_OWN_ENDS_ARE, caption_justify="left")
    shown.add_column("what")
    shown.add_column("count", justify="right")
    for kind, count in report["faults"].items():
        shown.add_row(f"faults: {kind}", f"{count:,}")
    for kind, why in report["not possible here"].items():
        shown.add_row(f"faults: {kind}", f"not possible here: {why}")
    shown.add_section()
    for name in ("refused commands", "runs", "turns of agents"):
        for kind, count in report[name].items():
            shown.add_row(f"{name}: {kind}", f"{count:,}")
        shown.add_section()
    for name in ("tasks", "attempts", "workers started", OWN_ENDS):
        shown.add_row(name, f"{report[name]:,}")
    shown.add_section()
    for guarantee, found in report["guarantees"].items():
        shown.add_row(f"guarantee: {guarantee}", _in_words(found, report["broken"].get(guarantee)))
    return shown


def _in_words(found: Mapping[str, Any], broken: list[str] | None) -> str:
    if broken is not None:
        return f"violated {len(broken):,} of {found['looks']:,} times"
    return f"held {found['looks']:,} times" if found["looks"] else "not tested"


def untested(report: Mapping[str, Any]) -> list[str]:
    """What the campaign could have tested and did not, in sentences."""
    return [
        *(
            f"no fault of the kind {kind!r} happened"
            for kind, count in report["faults"].items()
            if not count
        ),
        *(
            f"nothing tested that {guarantee}"
            for guarantee, found in report["guarantees"].items()
            if found["verdict"] == "not tested"
        ),
    ]


def outcome(report: Mapping[str, Any], *, poison: bool = True) -> tuple[int, list[str]]:
    """The exit code, 0, 1 or 130, and what is said last. What was not tested fails a long campaign,
    and any in which no fault happened at all. Without ``poison`` no poison run was asked for."""
    if report["interrupted"]:
        return INTERRUPTED, ["interrupted; guarantees are looked at when a campaign is over"]
    if report["broken"]:
        return 1, [f"{len(report['broken'])} guarantees are violated."]
    missed = untested(report)
    if not poison:
        missed.remove(f"nothing tested that {Guarantee.POISON_IS_STOPPED}")
    if not missed:
        return 0, ["Every guarantee held."]
    said = [f"Not tested: {sentence}." for sentence in missed]
    if not any(report["faults"].values()):
        return 1, [*said, "Failed: no fault happened, so no guarantee was tested."]
    if report["minutes"] > LONG_MINUTES:
        limit = f"more than {LONG_MINUTES:g} minutes must test all that is possible here"
        return 1, [*said, f"Failed: a campaign of {limit}."]
    return 0, [*said, "Every other guarantee held."]
