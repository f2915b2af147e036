"""Conditions on the rows of a table, as ``--fail-if`` takes them: read by Python's parser, never run as Python.

    finding and abs(slope) > 5
    finding and label not in ("Male", "No_Beard")
    decision == "open" or q < 0.01

A condition is made of the table's columns, numbers, texts in quotes, ``True`` and ``False``, ``and``, ``or``, ``not``,
``abs(…)``, a minus, the comparisons ``< <= > >= == !=``, and ``in`` or ``not in`` a list of constants.  Anything
else is refused.  A comparison with a number that is missing does not hold, whatever it is.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from gslopes.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 500  # characters
FAILED = 4  # the exit code if a condition holds
_TESTS: dict[type[ast.cmpop], Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Condition:
    """A condition, checked: it can be judged for every row.

    columns: name to a value of its type: a number, a text or a truth.

    Raises: UsageError if it is not a condition, or names an unknown column.
    """

    def __init__(self, text: str, columns: Mapping[str, float | str | bool]) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise UsageError(
                f"The condition has {len(text):,} characters.", f"At most {LONGEST} are read."
            )
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            holds = _value(self._tree, columns)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = error.msg if isinstance(error, SyntaxError) else str(error)
            hint = "An example: 'finding and abs(slope) > 5'."
            raise UsageError(f"{text!r} is not a condition: {why}.", hint) from error
        if not isinstance(holds, bool):
            raise UsageError(
                f"{text!r} neither holds nor fails: it compares nothing.",
                "An example: 'abs(slope) > 5'.",
            )
        self._columns = tuple(columns)

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows for which it holds; the columns must be there."""
        records = frame[list(self._columns)].to_dict("records")
        return frame[
            [bool(_value(self._tree, {str(k): v for k, v in record.items()})) for record in records]
        ]


def _value(node: ast.expr, row: Mapping[str, Any]) -> Any:
    """The value of a part; every part is judged, so that one row shows whether the whole makes sense."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in row:
            close = get_close_matches(node.id, row, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(row)}"
            raise ValueError(f"there is no column {node.id!r}; {advice}")
        return row[node.id]
    if isinstance(node, ast.BoolOp):
        join = all if isinstance(node.op, ast.And) else any
        return join([_truth(_value(part, row)) for part in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _truth(_value(node.operand, row))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(_value(node.operand, row))
    if isinstance(node, ast.Call):
        if ast.unparse(node.func) != "abs" or len(node.args) != 1 or node.keywords:
            raise ValueError("the one function is abs(…)")
        return abs(_number(_value(node.args[0], row)))
    if isinstance(node, ast.Compare):
        return _compared(node, row)
    raise ValueError(f"{ast.unparse(node)!r} is not allowed in it")


def _compared(node: ast.Compare, row: Mapping[str, Any]) -> bool:
    operand = _value(node.left, row)
    holds = []
    for how, right_node in zip(node.ops, node.comparators, strict=True):
        if isinstance(how, (ast.In, ast.NotIn)):
            if not isinstance(right_node, (ast.Tuple, ast.List)):
                raise ValueError('after \'in\' comes a list, such as ("Male", "No_Beard")')
            listed = [_value(element, {}) for element in right_node.elts]
            holds.append(not _missing(operand) and (operand in listed) == isinstance(how, ast.In))
            continue
        right = _value(right_node, row)
        test = _TESTS.get(type(how))
        if test is None:
            raise ValueError("it compares by < <= > >= == != and in")
        if _missing(operand) or _missing(right):
            holds.append(False)
        elif isinstance(operand, str) != isinstance(right, str) or (
            isinstance(operand, str) and not isinstance(how, (ast.Eq, ast.NotEq))
        ):
            raise ValueError(f"{ast.unparse(node)!r} compares a text as a number")
        else:
            holds.append(bool(test(operand, right)))
        operand = right
    return all(holds)


def _missing(value: Any) -> bool:
    return value is None or value != value


def _number(value: Any) -> float:
    if isinstance(value, (str, bool)):
        raise ValueError(f"{value!r} is not a number")
    if value is None:
        return math.nan
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("'and', 'or' and 'not' join comparisons")
    return value
