"""The report: all sections, in Markdown and in a page that needs nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from advisor_samples import GOOD, HOUR_MS, NOW, Known, outcome, reflected, shop

from dcf.advisors import Reflection, Table, html_of, markdown_of, report_of
from dcf.advisors.report import run_section
from dcf.knowledge import RunFact


async def whole() -> Reflection:
    known = Known(shop(220, 280))
    await reflected(known, NOW - 219 * HOUR_MS)
    known.ended += sorted(shop(1, 61), key=lambda one: one.ended_at)
    known.ended += [
        outcome(n, n % 2 == 0, cause="<script>alert(1)</script> | `x` *y*", tries=2, tier=1, fcs=14)
        for n in range(200, 150, -1)
    ]
    known.ended.sort(key=lambda one: one.ended_at)
    return await reflected(known)


async def test_markdown_has_the_sections_and_no_markup_of_runs() -> None:
    text = markdown_of(report_of(await whole()))
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == [
        "Summary",
        "Insights",
        "What became of earlier advice",
        "Skill versions by type of task",
        "Held against each other",
        "Failures by kind",
        "Does trying again help",
        "Where the time goes",
        "Different from before",
        "Complexity, predicted and found",
        "How to read this",
    ]
    assert "<script>" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    # A pipe in a cell would make more cells than its table has columns.
    widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
    marks = [index for index, row in enumerate(rows) if set(row) <= set("|-: ")]
    for start, end in zip(marks, [*(mark - 1 for mark in marks[1:]), len(rows)], strict=True):
        assert len(set(widths[start - 1 : end])) == 1
    assert GOOD in text


async def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = html_of(report_of(await whole()))
    assert "<script" not in page
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


async def test_charts_can_be_read_out() -> None:
    page = html_of(report_of(await whole()))
    charts = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(charts) == 3
    for chart in charts:
        picture = ElementTree.fromstring(chart)
        assert picture.get("role") == "img"
        named = str(picture.get("aria-labelledby")).split()
        texts = {part.get("id"): part.text for part in picture}
        assert all(texts[name] for name in named)
    assert "shop.pay@2.0.0: 90.0 %, between" in page


def narrowest(table: Table) -> float:
    """The pixels that a table takes at least, by the page's style: a cell has 19 of padding, a
    letter of its type about 8, numbers stay on one line and other columns have a least width."""
    width = 0.0
    for at, column in enumerate(table.columns):
        if at in table.numeric:
            longest = max(len(row[at]) for row in table.rows)
            width += 8 * max(longest, *(len(word) for word in column.split()))
        else:
            width += 176 if at == 0 else 96
        width += 19.2
    return width


async def test_no_table_is_cut_on_a_page_of_1100_pixels() -> None:
    report = report_of(await whole())
    widths = {one.title: narrowest(one.table) for one in report.sections if one.table}
    # What the page's margins leave; below 66rem rows become cards.
    assert {title: width for title, width in widths.items() if width > 1_100 - 48} == {}
    assert "@media (max-width: 66rem)" in html_of(report)


async def test_runs_have_ids_and_commands_that_can_be_copied() -> None:
    report = report_of(await whole())
    text, page = markdown_of(report), html_of(report)
    assert "dcf://" not in text + page
    for line in ("dcf graph run ID", "dcf explain ID", "dcf reflect ID"):
        assert f"- `{line}`: " in text
        assert f"<code>{line}</code>" in page
    assert "\\`" not in text.splitlines()[-1]


async def test_a_report_on_nothing_says_so() -> None:
    report = report_of(await reflected(Known()))
    assert [section.title for section in report.sections] == [
        "Summary",
        "Insights",
        "How to read this",
    ]
    assert "Nothing ended in this time" in markdown_of(report)


async def test_one_run_is_shown_beside_what_is_usual() -> None:
    reflection = await reflected(Known(shop(1, 61)))
    run = RunFact(
        run="run-1", redrives=0, workflow_id="run-1", workflow_name="shop", version=None,
        digest="d", status="failed", started_at=NOW - 5_000, ended_at=NOW, duration_ms=5_000,
        states={}, cost_usd=0.0, tokens=0, error="Bank.Refused", cause="no money",
    )  # fmt: skip
    section = run_section(run, [outcome(1, False)], reflection.analysis)
    assert section.text[0].startswith("shop failed, ")
    assert section.text[1] == "Bank.Refused: no money"
    assert section.table is not None
    assert section.table.rows[0][:6] == (
        "Pay", "pay", "shop.pay@1.0.0", "failed: Bank.Refused", "65.0 %", "1",
    )  # fmt: skip
