"""The plan of an audit: everything is checked before anything expensive is done."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gslopes.core import (
    ConfigError,
    Facts,
    JsonObject,
    Stored,
    UsageError,
    from_dict,
    merged,
    over,
    show,
    to_dict,
)
from gslopes.core.runfolder import MANIFEST, check_outside
from gslopes.frame.spec import INPUTS, Audit, Plan, lasting, refuse_older


def plan(
    audit: Audit,
    source: Path | None,
    out: Path | None,
    options: Facts,
    *,
    trust: bool = False,
    given: Any = None,
    only: Sequence[str] = (),
) -> Plan:
    """What an audit will do; nothing is written.

    source: what is audited, or a run of this audit: then what depends on the options that are given is done again; None
        if an option names it.
    out: the run folder.  options: by name, see ``core.options.build``.  trust, given, only: as of ``Plan``.

    Raises: UsageError, ConfigError, RunFolderMismatch; and whatever is wrong with the inputs.
    """
    about: JsonObject = {"trust": trust, "given": given, "only": tuple(only)}
    config: Any
    if source is not None and (source / MANIFEST).is_file():
        planned = _again(audit, source, out, options, about)
    else:
        if out is not None and show(out) != str(out):  # Parquet could open no file in it
            raise UsageError(
                f"The run folder's name {show(out)} is not valid UTF-8.",
                "Choose another with --out.",
            )
        if audit.configure is not None:
            config = audit.configure(source, options, about["only"], given, out)
        else:
            config = from_dict(audit.config, merged(audit.config, options, base=Path.cwd()))
        source = getattr(config, "photos", None) or source
        if source is None:
            raise ConfigError("Nothing is named to audit.", f"Name {audit.sentences['source']}.")
        if out is not None:
            check_outside(out, source)
        planned = Plan(audit, config, source.absolute(), out, **about)
        _ = planned.inputs
    planned.check()
    return planned


def _again(
    audit: Audit,
    run: Path,
    out: Path | None,
    options: Facts,
    about: Facts,
) -> Plan:
    """The plan of an existing run, with the options given over those that it has."""
    old = refuse_older(run, audit, goes_on=True)
    if old.get("kind", audit.name) != audit.name:
        raise UsageError(
            f"{show(run)} is not a run of gslopes {audit.name}.",
            f"Give {audit.sentences['source']} instead.",
        )
    if out is not None and out.absolute() != run.absolute():
        raise UsageError(
            f"{show(run)} is a run; it is done again in its place.", "Leave out --out."
        )
    new: JsonObject = to_dict(merged(audit.config, options, base=Path.cwd()))
    text = str if about["trust"] else Stored
    config: Any = from_dict(audit.config, over(new, lasting(old["config"], text)))
    read = [stage.options or () for stage in audit.stages if INPUTS in stage.reads]
    looks = any(_has(new, name) for names in (audit.looked_at, *read) for name in names)
    return Plan(audit, config, Path(old["source"]), run, again=True, looks=looks, **about)


def _has(options: Facts, name: str) -> bool:
    """Whether a dotted name, or part of that section, is given."""
    first, _, rest = name.partition(".")
    return first in options and (not rest or _has(options[first], rest))
