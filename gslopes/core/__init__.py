"""The foundation of every room: records, tables, errors, configuration, run folders."""

from gslopes.core.config import (
    Stored,
    facts_of,
    from_dict,
    number,
    read_beside,
    read_toml,
    to_dict,
    whole,
)
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
    LONGEST_LINE,
    Facts,
    JsonObject,
    Names,
    Record,
    Row,
    Texts,
    csv_bytes,
    hexdigest,
    inside,
    is_file,
    open_regular,
    parse_json,
    read_json,
    read_named,
    read_regular,
    read_text,
    sha256_of,
    show,
    without_guard,
)
from gslopes.core.freeze import frozen, frozen_identity
from gslopes.core.killpoints import kill_point
from gslopes.core.options import build, merged, option, options_of, over, section, with_options
from gslopes.core.progress import Notes, Tick, Watch, counted, progress_line, tell
from gslopes.core.reasons import Reason, SkipReason, dropped, explained
from gslopes.core.runtime import gslopes_version, is_out_of_memory, limit_threads, pick_device
from gslopes.core.storage import raise_if_refused
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
