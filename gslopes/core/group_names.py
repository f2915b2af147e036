"""Names of groups in people's tables, whatever the table: one spelling each, and none for what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MISSING = frozenset({"", "nan", "none", "null", "n/a", "na", "<na>"})


def normal_names(cells: Iterable[object]) -> list[str]:
    """Cells of a column of groups: those that differ in case or blanks alone are one, by the most frequent spelling.

    What is missing, and a text that says so (``nan``, ``none``, ``null``, ``n/a``, ``na``), is empty: in no group.

    >>> normal_names(["male", "Male ", "male", "NaN", None])
    ['male', 'male', 'male', '', '']
    """
    texts = [" ".join(str(cell).split()) for cell in cells]  # None, NaN and pandas' own NA are texts that say so
    keys = [text.casefold() for text in texts]
    counts: dict[str, Counter[str]] = {}
    for key, text in sorted(zip(keys, texts, strict=True)):
        counts.setdefault(key, Counter())[text] += 1
    spelling = {key: "" if key in _MISSING else count.most_common(1)[0][0] for key, count in counts.items()}
    return [spelling[key] for key in keys]
