"""Conditions on the rows of a table, as ``--fail-if`` takes them: read by Python's parser, never run as Python.

    finding and abs(slope) > 5
    finding and label not in ("Male", "No_Beard")
    decision == "open" or q < 0.01

A condition is made of the table's columns, numbers, texts in quotes, ``True`` and ``False``, ``and``, ``or``, ``not``,
``abs(…)``, a minus, the comparisons ``< <= > >= == !=``, and ``in`` or ``not in`` a list of constants.  Anything
else is refused: texts, numbers and truths compare with their own kind, and only numbers by size.  A comparison with a
number that is missing does not hold, whatever it is.

A text that no row has is refused, too: a gate with a misspelt label would never fail.  After ``!=`` and ``not in`` it
is refused only if it is nearly one that a row has.  Words that a good run may be without are in conditions.toml:
``decision == "open"`` holds for no row where none is open.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslopes.core import Facts, JsonObject, UnknownName, UsageError, nearest, read_beside, some_of

if TYPE_CHECKING:
    from pandas import DataFrame

LONGEST = 500  # characters
FAILED = 4  # the exit code if a condition holds
_FORM = read_beside(__file__, "conditions.toml")


class Condition:
    """A condition, checked: it can be judged for every row.

    columns: name to a value of its type: a number, a text or a truth.  junit: the file that names the rows for it.

    Raises: UsageError if it is not a condition, or names an unknown column or decision.
    """

    def __init__(
        self, text: str, columns: Mapping[str, float | str | bool], junit: Path | None = None
    ) -> None:
        self.text = text
        self.junit = junit
        if len(text) > LONGEST:
            raise UsageError(
                f"The condition has {len(text):,} characters.", f"At most {LONGEST} are read."
            )
        self._columns = columns
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            _truth(_value(self._tree, _samples(columns, _FORM["closed"])))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UsageError(
                f"{text!r} is not a condition: {getattr(error, 'msg', error)}.",
                "An example: 'finding and abs(slope) > 5'.",
            ) from error

    def rows(self, frame: DataFrame) -> DataFrame:
        """The rows for which it holds; the columns must be there.

        Raises: UsageError if it compares a column with a text that no row has.
        """
        known = {
            name: {*frame[name].dropna(), *_FORM["open"].get(name, ())}
            for name, value in self._columns.items()
            if isinstance(value, str)
        }
        if len(frame):
            _value(self._tree, _samples(self._columns, known))
        records = frame[list(self._columns)].to_dict("records")
        return frame[[bool(_value(self._tree, record)) for record in records]]

    def facts(self, frame: DataFrame) -> JsonObject:
        """Its text, the number of rows, of those that are judged (they have a q), and the names of those it holds for.

        Raises: as ``rows``.
        """
        names = self.rows(frame).iloc[:, :3].astype(str).values.tolist()
        return {
            "condition": self.text,
            "rows": len(frame),
            "judged": int(frame["q"].count()),
            "holds": names,
        }


class _Texts(str):
    """Stands for a column of texts.  known: all that it has, or may have; the empty text may always be missing.

    Equal to another one raises UsageError. Unequal raises it only if a known one is near, which may be meant: to
    leave out what did not occur changes nothing.
    """

    def __init__(self, known: Collection[str]) -> None:
        self.known = known

    def __eq__(self, text: object) -> bool:
        if isinstance(text, _Texts) or text in ("", *self.known):
            return False
        raise UsageError(
            f"--fail-if compares with {text!r}, which no row has; they have "
            f"{some_of(sorted(self.known), 10) or 'none'}.",
            nearest(f"{text}", self.known),
        )

    def __ne__(self, text: object) -> bool:
        return bool(get_close_matches(f"{text}", self.known, cutoff=0.75)) and self == text


def _samples(columns: Facts, known: Mapping[str, Collection[str]]) -> JsonObject:
    return {**columns, **{name: _Texts(known[name]) for name in columns if name in known}}


def _value(node: ast.expr, row: Mapping[Any, Any]) -> Any:
    """The value of a part; every part is judged, so that one row shows whether the whole makes sense."""
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Name(id=name):
            if name not in row:
                raise UnknownName("column", name, row, "The table")
            return row[name]
        case ast.BoolOp(op=how, values=parts):
            truths = [_truth(_value(part, row)) for part in parts]
            return all(truths) if isinstance(how, ast.And) else any(truths)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _truth(_value(part, row))
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -_number(_value(part, row))
        case ast.Call(func=ast.Name(id="abs"), args=[part], keywords=[]):
            return abs(_number(_value(part, row)))
        case ast.Call():
            raise ValueError("the one function is abs(…)")
        case ast.Compare():
            return _compared(node, row)
    raise ValueError(f"{ast.unparse(node)!r} is not allowed in it")


def _compared(node: ast.Compare, row: Mapping[Any, Any]) -> bool:
    operand = _value(node.left, row)
    holds = []
    for how, right in zip(node.ops, node.comparators, strict=True):
        name = type(how).__name__
        test = _FORM["tests"].get(name)
        listed = getattr(right, "elts", None)
        if test is None or bool(listed) != name.endswith("In"):
            raise ValueError(
                'it compares by < <= > >= == !=, and by in a list, such as ("Male", "No_Beard")'
            )
        values = [_value(part, row) for part in listed or [right]]
        together = [operand, *values]
        kinds = {(isinstance(value, str), isinstance(value, bool)) for value in together}
        operand = values[-1]
        if any(value is None or value != value for value in together):
            holds.append(False)
            continue
        if len(kinds) > 1 or (any(*kinds) and test not in ("eq", "ne")):
            raise ValueError(
                f"{ast.unparse(node)!r} mixes kinds: a text goes with texts, a truth such as finding with True and "
                "False, and only numbers are less or greater"
            )
        held = [getattr(operator, test)(together[0], value) for value in values]
        holds.append(any(held) if test == "eq" else all(held))
    return all(holds)


def _number(value: Any) -> float:
    if isinstance(value, str | bool):
        raise ValueError(f"{value!r} is not a number")
    return float("nan" if value is None else value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} neither holds nor fails, it must be compared")
    return value
