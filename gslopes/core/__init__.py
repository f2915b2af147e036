"""The foundation of every room: records, tables, errors, configuration, run folders."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from gslopes.core.config import from_dict, read_beside, read_toml, to_dict
from gslopes.core.errors import (
    AnswerError,
    ClassifierError,
    ConfigError,
    CredentialsError,
    DataMissing,
    GslopesError,
    ModelError,
    PhotoError,
    Refused,
    RunFolderMismatch,
    ServiceError,
    StorageError,
    TableError,
    Throttled,
    Unavailable,
    Unfinished,
    UnknownName,
    UsageError,
    nearest,
)
from gslopes.core.files import (
    JsonObject,
    hexdigest,
    parse_json,
    read_json,
    read_regular,
    sha256_of,
    show,
)
from gslopes.core.progress import Tick, tell
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.text import many

__all__ = (
    "AnswerError",
    "ClassifierError",
    "ConfigError",
    "CredentialsError",
    "DataMissing",
    "GslopesError",
    "JsonObject",
    "ModelError",
    "PhotoError",
    "Reason",
    "Refused",
    "RunFolderMismatch",
    "ServiceError",
    "SkipReason",
    "StorageError",
    "TableError",
    "Throttled",
    "Tick",
    "Unavailable",
    "Unfinished",
    "UnknownName",
    "UsageError",
    "from_dict",
    "frozen",
    "frozen_identity",
    "hexdigest",
    "many",
    "nearest",
    "parse_json",
    "read_beside",
    "read_json",
    "read_regular",
    "read_toml",
    "sha256_of",
    "show",
    "tell",
    "to_dict",
)

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """A dataclass with slots that cannot be changed."""
    return dataclass(frozen=True, slots=True)(kind)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen_identity(kind: type[T]) -> type[T]:
    """The same, equal only to itself: for arrays, of which == gives an array."""
    return dataclass(frozen=True, slots=True, eq=False)(kind)
