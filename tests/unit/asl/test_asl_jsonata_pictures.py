"""Functions of JSONata that work by a picture: as documented."""

from __future__ import annotations

import pytest
from jsonata_scope import jsonata


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("$formatNumber(12345.6, '#,###.00')", "12,345.60"),
        ("$formatNumber(1234.5678, '00.000e0')", "12.346e2"),
        ("$formatNumber(0.14, '01%')", "14%"),
        ("$formatNumber(0.14, '###pm', {'per-mille': 'pm'})", "140pm"),
        ("$formatNumber(1234.5, '#.##0,0', {'decimal-separator': ',', 'grouping-separator': '.'})",
         "1.234,5"),
        ("$formatInteger(2789, 'w')", "two thousand, seven hundred and eighty-nine"),
        ("$formatInteger(1999, 'I')", "MCMXCIX"),
        ("$parseInteger('twelve thousand, four hundred and seventy-six', 'w')", 12476),
        ("$parseInteger('12,345,678', '#,##0')", 12345678),
        ("$fromMillis(1510067557121)", "2017-11-07T15:12:37.121Z"),
        ("$fromMillis(1510067557121, '[M01]/[D01]/[Y0001] [h#1]:[m01][P]')", "11/07/2017 3:12pm"),
        ("$fromMillis(1510067557121, '[H01]:[m01]:[s01] [z]', '-0500')", "10:12:37 GMT-05:00"),
        ("$toMillis('2017-11-07T15:07:54.972Z')", 1510067274972),
        ("$toMillis('2018.02.03', '[Y0001].[M01].[D01]')", 1517616000000),
        ("$toMillis('(2018+02)', '([Y0001]+[M01])')", 1517443200000),
        ("$exists($toMillis('2018x02', '[Y0001].[M01]'))", False),
    ],
)  # fmt: skip
def test_pictures(code: str, expected: object) -> None:
    assert jsonata(code) == expected
