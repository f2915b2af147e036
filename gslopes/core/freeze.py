"""Dataclasses that cannot be changed."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """A dataclass with slots that cannot be changed."""
    return dataclass(frozen=True, slots=True)(kind)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen_identity(kind: type[T]) -> type[T]:
    """The same, equal only to itself: for arrays, of which == gives an array."""
    return dataclass(frozen=True, slots=True, eq=False)(kind)
