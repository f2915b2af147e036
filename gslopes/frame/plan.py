"""The plan of an audit: everything is checked before anything expensive is done."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, runtime
from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.options import merged, over
from gslopes.core.runfolder import show
from gslopes.frame.sources import check_files, look_through
from gslopes.frame.spec import INPUTS, Audit, Inputs
from gslopes.photos.folder import check_outside


@dataclass(frozen=True)
class Plan:
    """An audit that is checked and not done yet.

    folder: the run folder; None where only the plan is wanted.  source: what is audited.
    again: whether ``source`` was the run folder itself, whose stages are done again as far as its options changed.
    looks: whether the inputs are looked at before that, as an option was given that they depend on.
    trust: whether programs in files may be run.  given: ready objects that the audit's ``models`` takes.
    only: the stages to do; all that the options have if empty.
    """

    audit: Audit
    config: Any
    source: Path
    folder: Path | None
    again: bool = False
    looks: bool = True
    trust: bool = False
    given: Any = None
    only: tuple[str, ...] = ()

    @cached_property
    def inputs(self) -> Inputs:
        """The source, looked at.  Raises: whatever is wrong with it."""
        notes: tuple[str, ...] = ()
        if self.source.is_dir() and self.audit.photos(self.config):
            notes = (look_through(self.source, getattr(self.config, "limit", None)),)
        elif self.source.is_dir():
            check_files(self.source)
        looked = self.audit.inputs(self.source, self.config)
        return replace(looked, notes=(*filter(None, notes), *looked.notes))

    @cached_property
    def models(self) -> Mapping[str, Any]:
        """Name to what is asked.  Raises: whatever is wrong with one of them."""
        if self.audit.models is None:
            return {}
        return self.audit.models(self)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The content of run.json: what the run is, its resolved options, and which facts identify it."""
        exists = self.folder is not None and (self.folder / runfolder.MANIFEST).is_file()
        old = runfolder.read_manifest(self.folder) if self.folder is not None and exists else {}
        made = dict(old)  # with what stages have written into it
        if self.looks:
            made |= {"kind": self.audit.name, "source": show(self.source), **self._looked_at()}
        elif self.audit.fixed is not None:
            made |= self.audit.fixed(self.config)
        made |= {"config": to_dict(self.config), "gslopes": runtime.gslopes_version()}
        return made | {
            "created": old.get("created") or datetime.now(UTC).isoformat(timespec="seconds")
        }

    @property
    def facts(self) -> dict[str, Any]:
        """What identifies the run."""
        return {name: self.manifest[name] for name in self.manifest["facts"]}

    def _looked_at(self) -> dict[str, Any]:
        """What the inputs say of themselves, as JSON has it."""
        inputs = self.inputs
        facts = dict(inputs.facts)
        if self.audit.models is not None and not self.audit.more:
            facts["asked"] = {name: model.version for name, model in self.models.items()}
        content = {**facts, **inputs.records, "facts": list(facts), "notes": list(inputs.notes)}
        return json.loads(json.dumps(content, default=str))

    def check(self) -> None:
        """Raises: RunFolderMismatch, UsageError if the folder holds another run, or something else."""
        if self.folder is None:
            return
        if not self.again and (self.folder / runfolder.MANIFEST).is_file():
            refuse_older(self.folder, self.audit, goes_on=True)
        runfolder.compare(self.folder, self.manifest, ("kind", *self.facts))


def plan(
    audit: Audit,
    source: Path | None,
    out: Path | None,
    options: Mapping[str, Any],
    *,
    trust: bool = False,
    given: Any = None,
    only: Sequence[str] = (),
) -> Plan:
    """What an audit will do; nothing is written.

    source: what is audited, or a run of this audit: then what depends on the options that are given is done again; None
        where an option names it.
    out: the run folder.  options: by name, see ``core.options.build``.  trust, given, only: as of ``Plan``.

    Raises: UsageError, ConfigError, RunFolderMismatch; and whatever is wrong with the inputs.
    """
    about: dict[str, Any] = {"trust": trust, "given": given, "only": tuple(only)}
    config: Any
    if source is not None and (source / runfolder.MANIFEST).is_file():
        made = _again(audit, source, out, options, about)
    else:
        if out is not None:
            _check_name(out)
        if audit.configure is not None:
            config = audit.configure(source, options, about["only"], given, out)
        else:
            config = from_dict(audit.config, merged(audit.config, options, base=Path.cwd()))
        source = getattr(config, "photos", None) or source
        if source is None:
            raise ConfigError("Nothing is named to audit.", f"Name {audit.sentences['source']}.")
        if out is not None:
            check_outside(out, source)
        made = Plan(audit, config, source.absolute(), out, **about)
        _ = made.inputs
    made.check()
    return made


def _check_name(out: Path) -> None:
    """Raises: UsageError for a folder in which no Parquet file could be opened, whose names are text."""
    try:
        str(out).encode()
    except UnicodeEncodeError:
        hint = "Choose another with --out."
        raise UsageError(f"The run folder's name {show(out)} is not valid UTF-8.", hint) from None


def _again(
    audit: Audit, run: Path, out: Path | None, given: Mapping[str, Any], about: Mapping[str, Any]
) -> Plan:
    """The plan of a run that is there, with the options given over its own."""
    old = runfolder.read_manifest(run)
    if old.get("kind", audit.name) != audit.name:
        hint = f"Give {audit.sentences['source']} instead."
        raise UsageError(f"{show(run)} is not a run of gslopes {audit.name}.", hint)
    if out is not None and out.absolute() != run.absolute():
        raise UsageError(f"{show(run)} is a run; it is done again where it is.", "Leave out --out.")
    refuse_older(run, audit, goes_on=True)
    new: dict[str, Any] = to_dict(merged(audit.config, given, base=Path.cwd()))
    config: Any = from_dict(audit.config, over(new, _lasting(old["config"])))
    read = [stage.options or () for stage in audit.stages if INPUTS in stage.reads]
    looks = any(_has(new, name) for names in (audit.looked_at, *read) for name in names)
    return Plan(audit, config, Path(old["source"]), run, again=True, looks=looks, **about)


def _has(options: Mapping[str, Any], name: str) -> bool:
    """Whether a dotted name, or part of that section, is given."""
    first, _, rest = name.partition(".")
    return first in options and (not rest or _has(options[first], rest))


def _lasting(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without the options that hold for one command alone."""
    lasting = {name: value for name, value in config.items() if name not in ("yes", "retry_failed")}
    return {
        name: _lasting(value) if isinstance(value, dict) else value
        for name, value in lasting.items()
    }


def refuse_older(run: Path, audit: Audit, goes_on: bool = False) -> None:
    """Raises: UsageError for a run of this audit by a version that kept other facts, whose tables are others too.

    goes_on: the run is to go on, for which its options must be those of this version.
    """
    old = runfolder.read_manifest(run)
    if old.get("kind", audit.name) != audit.name:
        return
    needed = {"kind", "source", "facts", "notes", "config", *map(str, old.get("facts") or ())}
    is_older = not needed <= old.keys()
    try:
        if goes_on and not is_older:
            from_dict(audit.config, old["config"])
    except ConfigError:
        is_older = True
    if is_older:
        version = f"gslopes {old['gslopes']}" if old.get("gslopes") else "an older gslopes"
        hint = "Choose a new folder with --out; the version that made it opens this one."
        raise UsageError(
            f"{show(run)} was made by {version}, whose runs this version cannot open.", hint
        )
