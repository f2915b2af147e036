"""Findings as JUnit XML, as CI servers show it: a row is a test, and fails if the condition holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from gslopes.core import runfolder
from gslopes.core.text import printable

if TYPE_CHECKING:
    import pandas as pd


def write(path: Path, frame: pd.DataFrame, failed: pd.DataFrame, condition: str) -> None:
    """Write one suite, a test a row, named by the row's first three columns; those that are not judged are skipped.

    frame: every row.  failed: of them, those for which the condition holds, by their index.

    Raises: StorageError.
    """
    suite = Xml.Element("testsuite", name="gslopes")
    properties = Xml.SubElement(suite, "properties")
    Xml.SubElement(properties, "property", name="fail-if", value=printable(condition))
    skipped = 0
    bad = set(failed.index)
    for index, row in zip(frame.index, frame.to_dict("records"), strict=True):
        model, contrast, label = (printable(str(value)) for value in list(row.values())[:3])
        case = Xml.SubElement(suite, "testcase", classname=f"{model} {contrast}", name=label)
        if index in bad:
            Xml.SubElement(case, "failure", message=f"{printable(condition)} holds").text = _facts(
                row
            )
        elif str(row.get("decision", "")) == "unjudged" or row.get("note"):
            skipped += 1
            Xml.SubElement(
                case, "skipped", message=printable(str(row.get("reason") or row.get("note") or ""))
            )
    suite.attrib |= {
        "tests": str(len(frame)),
        "failures": str(len(failed)),
        "errors": "0",
        "skipped": str(skipped),
    }
    runfolder.write_bytes(path, Xml.tostring(suite, encoding="utf-8", xml_declaration=True))


def _facts(row: dict[Any, Any]) -> str:
    """A row as lines; numbers with six digits."""
    texts = {
        name: f"{value:.6g}" if isinstance(value, float) else printable(str(value))
        for name, value in row.items()
    }
    return "\n".join(f"{name}: {value}" for name, value in texts.items())
