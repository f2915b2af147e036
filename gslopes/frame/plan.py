"""The plan of an audit: everything is checked before anything expensive is done."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, runtime
from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import UsageError
from gslopes.core.options import merged, over
from gslopes.core.runfolder import show
from gslopes.frame.spec import Inputs, Staged


@dataclass(frozen=True)
class Plan:
    """An audit that is checked and not done yet.

    folder: the run folder; None where only the plan is wanted.  source: what is audited.
    again: whether ``source`` was the run folder itself, whose stages are done again as far as its options changed.
    trust: whether programs in files may be run.  given: ready objects that the audit's ``models`` takes.
    """

    audit: Staged
    config: Any
    source: Path
    folder: Path | None
    again: bool = False
    trust: bool = False
    given: Any = None

    @cached_property
    def inputs(self) -> Inputs:
        """The source, looked at.  Raises: whatever is wrong with it."""
        return self.audit.inputs(self.source, self.config)

    @cached_property
    def models(self) -> Mapping[str, Any]:
        """Name to what is asked.  Raises: whatever is wrong with one of them."""
        return {} if self.audit.models is None else self.audit.models(self)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The content of run.json: what the run is, its resolved options, and which facts identify it."""
        there = self.folder is not None and (self.folder / runfolder.MANIFEST).is_file()
        old = runfolder.read_manifest(self.folder) if self.folder is not None and there else {}
        made = dict(old)  # with what stages have written into it
        if not self.again:
            made |= {"kind": self.audit.name, "source": show(self.source), **self._looked_at()}
        made |= {"config": to_dict(self.config), "gslopes": runtime.gslopes_version()}
        return made | {"created": old.get("created") or datetime.now(UTC).isoformat(timespec="seconds")}

    @property
    def facts(self) -> dict[str, Any]:
        """What identifies the run."""
        return {name: self.manifest[name] for name in self.manifest["facts"]}

    def _looked_at(self) -> dict[str, Any]:
        """What the inputs say of themselves, as JSON has it."""
        found = self.inputs
        facts = dict(found.facts)
        if self.audit.models is not None:
            facts["asked"] = {name: model.version for name, model in self.models.items()}
        content = {**facts, **found.records, "facts": list(facts), "notes": list(found.notes)}
        plain: dict[str, Any] = json.loads(json.dumps(content, default=str))
        return plain

    def check(self) -> None:
        """Raises: RunFolderMismatch, UsageError if the folder holds another run, or something else."""
        if self.folder is None:
            return
        if not self.again and (self.folder / runfolder.MANIFEST).is_file():
            _refuse_older(self.folder, self.audit)
        runfolder.compare(self.folder, self.manifest, ("kind", *self.facts))


def plan(
    audit: Staged,
    source: Path,
    out: Path | None,
    options: Mapping[str, Any],
    *,
    trust: bool = False,
    given: Any = None,
) -> Plan:
    """What an audit will do; nothing is written.

    source: what is audited, or a run of this audit: then what depends on the options that are given is done again.
    out: the run folder.  options: by name, see ``core.options.build``.  trust, given: as of ``Plan``.

    Raises: UsageError, ConfigError, RunFolderMismatch; and whatever is wrong with the inputs.
    """
    merged_options = merged(audit.config, options, base=Path(os.curdir).absolute())
    if (source / runfolder.MANIFEST).is_file() and not (audit.of_runs and _kind(source) != audit.name):
        made = replace(_again(audit, source, out, merged_options), trust=trust, given=given)
    else:
        made = Plan(audit, from_dict(audit.config, merged_options), source.absolute(), out, trust=trust, given=given)
        _ = made.inputs
    made.check()
    return made


def _kind(run: Path) -> str:
    return str(runfolder.read_manifest(run).get("kind", ""))


def _again(audit: Staged, run: Path, out: Path | None, given: Mapping[str, Any]) -> Plan:
    """The plan of a run that is there, with the options given over its own."""
    old = runfolder.read_manifest(run)
    if old.get("kind", audit.name) != audit.name:
        raise UsageError(f"{show(run)} is not a run of gslopes {audit.name}.", f"Give {audit.source} instead.")
    if out is not None and out.absolute() != run.absolute():
        raise UsageError(f"{show(run)} is a run; it is done again where it is.", "Leave out --out.")
    _refuse_older(run, audit)
    config: Any = from_dict(audit.config, over(given, old["config"]))
    return Plan(audit, config, Path(old["source"]), run, again=True)


def _refuse_older(run: Path, audit: Staged) -> None:
    """Raises: UsageError for a run of this audit by a version that kept other facts."""
    old = runfolder.read_manifest(run)
    needed = {"kind", "source", "facts", "notes", "config", *map(str, old.get("facts") or ())}
    if old.get("kind", audit.name) == audit.name and not needed <= old.keys():
        version = f"gslopes {old['gslopes']}" if old.get("gslopes") else "an older gslopes"
        hint = "Choose a new folder with --out; gslopes.load opens this one."
        raise UsageError(f"{show(run)} was made by {version}, whose runs cannot be continued.", hint)
