"""The foundation of every room: records, tables, errors, configuration, run folders."""

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
from gslopes.core.executor import Executor, Work
from gslopes.core.files import (
    LARGEST_TABLE,
    Facts,
    JsonObject,
    Names,
    Texts,
    csv_bytes,
    hexdigest,
    inside,
    parse_json,
    read_json,
    read_named,
    read_regular,
    read_text,
    sha256_of,
    show,
)
from gslopes.core.freeze import frozen, frozen_identity
from gslopes.core.killpoints import kill_point
from gslopes.core.options import build, with_options
from gslopes.core.progress import Notes, Tick, Watch, counted, progress_line, tell
from gslopes.core.reasons import Reason, SkipReason, explained
from gslopes.core.runtime import gslopes_version, is_out_of_memory, limit_threads, pick_device
from gslopes.core.text import (
    many,
    nudged,
    plain,
    printable,
    printable_lines,
    some_of,
    twins,
    two_digits,
)
from gslopes.core.traits import LOCAL, Limits, RequestUsage, Traits, check_traits, traits_of
