"""The procedures of ``workflows/sops``, compiled without a model and run on the stub server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from dcf import workflow
from dcf.skills import SkillCatalog

DRAWN = "drawn"
"""Stands for a number that the stub draws anew for each run."""

Outputs = dict[str, dict[str, Any]]
Failures = dict[str, tuple[str, str]]

OUTPUTS: dict[str, Outputs] = {
    "supplier-invoice": {
        "invoice-normal": {
            "deviation": "none",
            "posting_id": "POST-INV-2001",
            "transfer_id": "TRF-PAYEE-310",
        },
        "invoice-dearer-than-ordered": {
            "deviation": "price",
            "posting_id": "POST-INV-2003",
            "transfer_id": "TRF-PAYEE-330",
        },
        "invoice-new-machine": {
            "deviation": "none",
            "posting_id": "POST-INV-2002",
            "transfer_id": "TRF-PAYEE-320",
        },
    },
    "security-incident": {
        "alert-malware": {
            "severity": "high",
            "isolated": True,
            "checksum": "sha256:4be1d0",
            "case_id": DRAWN,
        },
        "alert-false-alarm": {
            "severity": "none",
            "isolated": None,
            "checksum": None,
            "case_id": None,
        },
        "alert-data-leak": {
            "severity": "critical",
            "isolated": True,
            "checksum": "sha256:4be1d0",
            "case_id": DRAWN,
        },
        "alert-unreachable-host": {
            "severity": "high",
            "isolated": None,
            "checksum": None,
            "case_id": DRAWN,
        },
    },
    "employee-onboarding": {
        "onboarding-normal": {
            "account_id": "ACC-EMP-501",
            "supply_order_id": DRAWN,
            "starts_at": "2026-01-05T09:00:00Z",
        },
        "onboarding-late-papers": {
            "account_id": None,
            "supply_order_id": DRAWN,
            "starts_at": "2026-01-05T09:00:00Z",
        },
    },
    "lab-sample": {
        "sample-normal": {
            "report_number": "LAB-SMP-4001",
            "values": [4.2, 140.0, 5.1],
            "verdicts": ["valid", "valid", "valid"],
        },
        "sample-retest": {
            "report_number": "LAB-SMP-4005",
            "values": [140.0, 5.1],
            "verdicts": ["valid", "valid"],
        },
        "sample-critical": {
            "report_number": "LAB-SMP-4006",
            "values": [7.1, 140.0],
            "verdicts": ["critical", "valid"],
        },
    },
    "machine-maintenance": {
        "machine-worn-bearing": {"fault": "bearing", "supply_order_id": DRAWN, "sound": True},
    },
    "insurance-claim": {
        "claim-burst-pipe": {
            "covered": True,
            "values_cents": [42000, 9500],
            "amount_cents": 36500,
            "transfer_id": "TRF-PAYEE-8001",
        },
        "claim-antique": {
            "covered": True,
            "values_cents": [480000, 42000],
            "amount_cents": 522000,
            "transfer_id": "TRF-PAYEE-8002",
        },
    },
    "customer-refund": {
        "refund-damaged-table": {
            "category": "refund",
            "refund_id": "REF-ORD-1001",
            "draft_id": "DRF-TCK-101",
            "escalation_id": None,
        },
        "refund-locked-out": {
            "category": "account",
            "refund_id": None,
            "draft_id": "DRF-TCK-103",
            "escalation_id": None,
        },
        "refund-lawyer": {
            "category": "legal",
            "refund_id": None,
            "draft_id": None,
            "escalation_id": "ESC-TCK-104",
        },
    },
    "goods-receipt": {
        "receipt-complete": {
            "receipt_id": "GR-DLV-6001",
            "findings": ["as_ordered", "as_ordered"],
            "complete": True,
            "case_id": None,
        },
        "receipt-broken-glass": {
            "receipt_id": "GR-DLV-6002",
            "findings": ["as_ordered", "damaged", "not_ordered"],
            "complete": False,
            "case_id": DRAWN,
        },
        "receipt-busy-ledger": {
            "receipt_id": "GR-DLV-7001",
            "findings": ["as_ordered"],
            "complete": True,
            "case_id": None,
        },
    },
    "cold-chain-excursion": {
        "cold-in-range": {"disposition": "release", "minutes_outside": 0, "cage": None},
        "cold-door-open": {"disposition": "ask_maker", "minutes_outside": 35, "cage": "Q-COLD"},
    },
    "content-publication": {
        "content-desks": {
            "verdict": "publish",
            "report_url": "https://reports.example.org/latest",
        },
        "content-lamps": {
            "verdict": "review",
            "report_url": "https://reports.example.org/latest",
        },
    },
}
FAILURES: dict[str, Failures] = {
    "supplier-invoice": {
        "invoice-unreadable": ("InvoiceNotPaid", "INV-2005 goes back to the supplier"),
    },
    "employee-onboarding": {
        "onboarding-no-contract": (
            "PapersMissing",
            'still missing: ["signed contract","work permit"]',
        ),
    },
    "lab-sample": {
        "sample-haemolysed": (
            "SampleRefused",
            "SMP-4002: the serum is haemolysed, potassium would be wrong",
        ),
    },
    "machine-maintenance": {
        "machine-motor": ("MachineDown", "PRESS-7 is not sound"),
        "machine-silent": ("MachineDown", "MILL-9 is not sound"),
    },
    "insurance-claim": {
        "claim-wear": ("ClaimRefused", "CLM-3004: wear and tear is not an insured event"),
        "claim-without-pictures": ("PapersMissing", 'CLM-3005 lacks ["pictures of the damage"]'),
    },
    "cold-chain-excursion": {
        "cold-cooling-failed": ("GoodsLost", "COLD-6103 was out of range for 610 minutes"),
    },
    "content-publication": {
        "content-unheard": ("NothingFound", "nobody writes about unheard chairs"),
    },
}
EVERYBODY_AGREES = dict.fromkeys(
    (
        "buyer",
        "data protection officer",
        "editor",
        "fact checker",
        "finance director",
        "head of claims",
        "maintenance technician",
        "plant manager",
        "qualified person",
    ),
    "approve",
)

each_sop = pytest.mark.parametrize("sop", OUTPUTS)


@pytest.fixture
def play_sop(play: Any, plan_of: Any, catalog: SkillCatalog) -> Any:
    """``await play_sop(sop, input)`` runs a procedure; ``answers`` are decisions by approver."""

    async def run(
        sop: str, name: str, answers: dict[str, str] = EVERYBODY_AGREES, run_id: str | None = None
    ) -> Any:
        document = workflow.load(json.dumps(plan_of(sop).document), file=sop, catalog=catalog)
        return await play(sop, name, run_id, document=document, answers=answers)

    return run


@each_sop
async def test_a_procedure_comes_out_as_its_readme_says(play_sop: Any, sop: str) -> None:
    outputs, failures = OUTPUTS[sop], FAILURES.get(sop, {})
    names = [*outputs, *failures]
    ended = dict(
        zip(names, await asyncio.gather(*(play_sop(sop, name) for name in names)), strict=True)
    )

    assert {name: (ended[name].error, ended[name].cause) for name in names} == {
        **dict.fromkeys(outputs, (None, None)),
        **failures,
    }
    assert {name: _without_drawn(ended[name].output, outputs[name]) for name in outputs} == outputs


def _without_drawn(output: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """``output`` with ``DRAWN`` for what is drawn, if there is something."""
    return {
        name: DRAWN if value and wanted.get(name) is DRAWN else value
        for name, value in output.items()
    }


async def test_a_refused_difference_sends_the_invoice_back(play_sop: Any) -> None:
    ended = await play_sop(
        "supplier-invoice", "invoice-dearer-than-ordered", {"buyer": "reject"}, "refused-invoice"
    )

    assert (ended.error, ended.cause) == ("InvoiceNotPaid", "INV-2003 goes back to the supplier")
    assert "schedule_transfer" not in ended.effects
    assert [call["team"] for call in ended.called("tell_team")] == ["finance"]


async def test_a_machine_that_the_technician_cannot_repair_stays_down(play_sop: Any) -> None:
    ended = await play_sop(
        "machine-maintenance",
        "machine-worn-bearing",
        {"maintenance technician": "reject"},
        "unrepaired-machine",
    )

    assert (ended.error, ended.cause) == ("MachineDown", "PRESS-4 is not sound")
    assert [call["about"] for call in ended.called("open_case")] == ["PRESS-4"]
    assert ended.effects["order_supplies"] == 1


async def test_only_the_value_whose_controls_failed_is_measured_twice(play_sop: Any) -> None:
    ended = await play_sop("lab-sample", "sample-retest")

    codes = [call["test_code"] for call in ended.called("run_test")]
    assert sorted(codes) == ["GLU", "NA", "NA"]


async def test_a_critical_value_is_rung_through(play_sop: Any) -> None:
    ended = await play_sop("lab-sample", "sample-critical")

    assert ended.called("tell_team") == [
        {"team": "quality", "message": "call the ward at once", "urgent": True}
    ]


async def test_what_cannot_be_cut_off_is_rung_through_while_the_rest_goes_on(play_sop: Any) -> None:
    ended = await play_sop("security-incident", "alert-unreachable-host")

    assert ended.effects["lock_account"] == 1
    assert ended.refusals == {
        ("isolate_host", "HostUnreachable"): 1,
        ("collect_evidence", "EvidenceUnreadable"): 1,
    }
    assert [call["urgent"] for call in ended.called("tell_team")] == [True]


async def test_nothing_is_published_that_the_editor_refuses(play_sop: Any) -> None:
    ended = await play_sop(
        "content-publication", "content-desks", {"editor": "reject"}, "refused-article"
    )

    assert (ended.error, ended.cause) == (
        "NotPublished",
        "the article on standing desks is not ready",
    )
    assert "publish_report" not in ended.effects
