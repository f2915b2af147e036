"""``gslopes models``: which networks are there."""

from __future__ import annotations

from dataclasses import asdict

from gslopes.core.commands import json_option, print_json, say, verb


@verb(
    "gslopes models",
    "gslopes models --json",
)
@json_option
def models(as_json: bool) -> int:
    """List every model: what it does, where it is, its licence and the sha256 of its weights."""
    from gslopes.zoo import list_models

    entries = list_models()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        where = f"{entry.path} ({entry.bytes / 2**20:.1f} MiB)" if entry.sha256 else "no weights"
        facts = {"network": entry.network, "licence": entry.licence, "weights": where, "sha256": entry.sha256 or "-"}
        lines = [f"  {key:<8} {value}" for key, value in facts.items()]
        say("\n".join([entry.name, f"  {entry.summary}", *lines]))
    return 0
