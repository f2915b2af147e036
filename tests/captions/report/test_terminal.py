from __future__ import annotations

from gslopes.captions.report.terminal import print_measures, print_rows
from tests.captions.report.test_lead import measured, row

COUNTS = {"n": 50, "active": 5, "truth": ""}


def test_the_smallest_q_of_each_technique_is_printed_with_its_reading():
    two = ((3, 0.2), (4.5, 0.01))
    rows = measured(*(row("D2", value, q, harm="demeaning", concept=f"c{q}", **COUNTS) for value, q in two))
    lines = print_measures(rows, most=1).splitlines()
    assert lines[1] == "Demeaning · D2 · system-captions"
    assert len(lines) == 3
    assert all(part in lines[2] for part in ("c0.01", "darker − lighter", "+4.5", "[+2.5, +6.5]", "0.010", "face"))


def test_every_row_of_a_sweep_is_a_line():
    rows = measured(row("R2", -14.7, 0.001, concept="mention:woman", unit="pp per unit", note="x", **COUNTS))
    expected = "R2 skin mention:woman −14.7 pp per unit [−16.7, −12.7] q 0.001 x"
    assert print_rows(rows).split() == expected.split()
