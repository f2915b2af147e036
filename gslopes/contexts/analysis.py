"""From the answers of a run to all of its tables; nothing is asked again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts import tables as schemas
from gslopes.contexts.measures import checks
from gslopes.contexts.measures.analyse import analyse
from gslopes.contexts.measures.describe import GROSS, describe_all, tag_sets
from gslopes.contexts.measures.interaction import interaction_table
from gslopes.contexts.options import ContextOptions
from gslopes.contexts.ratings import read_ratings, summarise_ratings
from gslopes.contexts.typology import Typology, normalise, read_typology
from gslopes.core import runfolder, tables
from gslopes.core.runfolder import show

KNOWN = 0.05  # share of a classifier's tags under which the typology is not for it


def analyse_run(
    run: Path, options: ContextOptions, content: Mapping[str, Any]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Every table of section 11 that the answers allow, written into the run folder; and notes for people.

    Raises: UsageError, ConfigError, TableError, StorageError.
    """
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    people = tables.read(schemas.PEOPLE, run / "people.parquet")
    composites = tables.read(schemas.COMPOSITES, run / "composites.parquet")
    backgrounds = tables.read(schemas.BACKGROUNDS, run / "backgrounds.parquet")
    notes: list[str] = []
    found: dict[str, pd.DataFrame] = {}
    if options.ratings is not None:
        found["ratings"], backgrounds = with_ratings(options, backgrounds, notes)
        runfolder.write_table(schemas.BACKGROUNDS, backgrounds, run / "backgrounds.parquet")
    used = backgrounds[backgrounds["status"] == "used"]
    described, confusion, interactions, tagged = [], [], [], {}
    typologies, kinds = [], []
    for name in sorted(set(asked["classifier"])):
        typology = typology_of(name, options, content, used)
        scored = scores[scores["classifier"] == name]
        tags = tag_sets(scored, options)
        answered = asked[(asked["classifier"] == name) & (asked["status"] == "answered")]
        every = {
            (str(photo), str(attribute), int(step)): tags.get((str(photo), str(attribute), int(step)), frozenset())
            for photo, attribute, step in zip(answered["photo"], answered["attribute"], answered["step"], strict=True)
        }
        notes += _notes(name, every, used, typology, asked)
        tagged[name] = frozenset(key for key, context_tags in typology.contexts.items() if context_tags)
        typologies.append(
            (name, typology.name, typology.version, typology.partial, 1 - checks.known_share(every, typology))
        )
        kinds += [(name, label, kind_of(str(label), typology)) for label in scored["label"].unique()]
        rows = describe_all(name, scores, asked, composites, used, typology, options)
        described.append(rows)
        confusion.append(checks.confusion_table(name, every, used, typology, options.recognised_at))
        interactions += _interactions(rows, every, people, content, options)
    found["described"] = pd.concat(described, ignore_index=True)
    interaction = pd.concat(interactions, ignore_index=True) if interactions else None
    found |= analyse(found["described"], people, used, tagged, options, interaction).tables
    found["confusion"] = pd.concat(confusion, ignore_index=True)
    found["balance_contexts"] = checks.balance_table(composites, people)
    _write(run, found)
    found |= {"people": people, "composites": composites, "backgrounds": backgrounds}
    found["cutouts"] = tables.read(schemas.CUTOUTS, run / "cutouts.parquet")
    notes += _balance(found["balance_contexts"])
    notes += _gated(run)
    found["typologies"] = pd.DataFrame(typologies, columns=["classifier", "name", "version", "partial", "unassigned"])
    found["tag_kinds"] = pd.DataFrame(kinds, columns=["classifier", "label", "kind"])
    found["sweep"] = sweep_lines(found["described"], content)
    return found, notes


def kind_of(label: str, typology: Typology) -> str:
    """What a tag is on the page: feminine, masculine, context, abstract, concrete, or nothing of these."""
    tag = normalise(label)
    for cluster in ("feminine", "masculine"):
        if tag in typology.clusters[cluster]:
            return cluster
    if any(tag in tags for tags in typology.contexts.values()):
        return "context"
    return next((name for name in ("abstract", "concrete") if tag in typology.super_tags(name)), "")


def sweep_lines(described: pd.DataFrame, content: Mapping[str, Any]) -> pd.DataFrame:
    """Share inferred woman at each value, gross: classifier, background, value, share, n; empty without a sweep."""
    columns = ["classifier", "background", "value", "share", "n"]
    sweep = content["config"].get("sweep", "")
    if not sweep:
        return pd.DataFrame(columns=columns)
    values = np.array(next(iter(content["values"].values())), float)
    rows = described[described["attribute"].str.endswith(f"~{sweep}") & (described["tags"] == GROSS)]
    rows = rows.assign(
        background=rows["attribute"].str.partition("~")[0],
        value=values[rows["step"].to_numpy(int)],
        share=(rows["inferred"] == "woman").astype(float),
    )
    grouped = rows.groupby(["classifier", "background", "value"])["share"].agg(["mean", "size"]).reset_index()
    return grouped.rename(columns={"mean": "share", "size": "n"})[columns]


def typology_of(
    classifier: str, options: ContextOptions, content: Mapping[str, Any], backgrounds: pd.DataFrame
) -> Typology:
    """The typology of one classifier: the given one, else ``celeba`` for celeba-tagger and ``starter``."""
    usual = "celeba" if classifier.partition(":")[0] == "celeba-tagger" else "starter"
    typology = read_typology(options.typology or (usual,))
    return typology.with_contexts(_folder_tags(content, set(backgrounds["context"])))


def _folder_tags(content: Mapping[str, Any], contexts: set[str]) -> dict[str, tuple[str, ...]]:
    """Context tags of the contexts.toml of the run's own folders."""
    from gslopes.contexts.vocabulary import read_contexts

    found: dict[str, tuple[str, ...]] = {}
    for name in content["config"]["backgrounds"]:
        path = Path(name) / "contexts.toml"
        if name not in ("rendered", "packaged") and path.is_file():
            found |= {
                key: record.tags for key, record in read_contexts(path).items() if record.tags and key in contexts
            }
    return found


def tags_of_run(run: Path, options: ContextOptions) -> pd.DataFrame:
    """Tags in no cluster and no context, by frequency; see ``checks.unassigned``."""
    content = runfolder.read_manifest(run)
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    backgrounds = tables.read(schemas.BACKGROUNDS, run / "backgrounds.parquet")
    frames = []
    for name in sorted(set(scores["classifier"])):
        typology = typology_of(name, options, content, backgrounds)
        tags = tag_sets(scores[scores["classifier"] == name], options)
        frames.append(checks.unassigned(tags, typology, name, set(backgrounds["key"])))
    return pd.concat(frames, ignore_index=True).sort_values("pictures", ascending=False, ignore_index=True)


def with_ratings(
    options: ContextOptions, backgrounds: pd.DataFrame, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ratings table, and the backgrounds with the medians of one's own raters in place of their ratings.

    notes: what is odd about the raters' answers is added to them.  Raises: UsageError.
    """
    assert options.ratings is not None
    answers, warnings = read_ratings(options.ratings)
    notes += warnings
    rated = summarise_ratings(answers, draws=options.bootstrap, seed=options.seed)
    medians = dict(zip(rated["context"], rated["median"], strict=True))
    unknown = sorted(set(medians) - set(backgrounds["context"]))
    notes += [f"{show(options.ratings)} rates {name}, which is no context of this run." for name in unknown]
    ratings = [
        medians.get(context, rating)
        for context, rating in zip(backgrounds["context"], backgrounds["rating"], strict=True)
    ]
    return rated, backgrounds.assign(rating=np.array(ratings, float))


def _interactions(
    rows: pd.DataFrame,
    tags: Mapping[tuple[str, str, int], frozenset[str]],
    people: pd.DataFrame,
    content: Mapping[str, Any],
    options: ContextOptions,
) -> list[pd.DataFrame]:
    sweep = content["config"].get("sweep", "")
    if not sweep:
        return []
    values = np.array(next(iter(content["values"].values())), float)
    presence: dict[str, set[tuple[str, str, int]]] = {}
    for key, picture_tags in tags.items():
        if key[1].endswith(f"~{sweep}"):
            for tag in picture_tags:
                presence.setdefault(tag, set()).add(key)
    found = []
    for kind in sorted(set(rows["tags"])):
        kind_rows = rows[rows["tags"] == kind]
        frame = interaction_table(kind_rows, presence if kind == GROSS else {}, values, people, options, sweep)
        if len(frame):
            found.append(frame)
    return found


def _gated(run: Path) -> list[str]:
    """How many sweeps the gate dropped, and why."""
    if not (run / "verdicts.parquet").is_file():
        return []
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet").drop_duplicates("photo")
    if verdicts.empty:
        return []  # nothing was judged
    lost = verdicts.loc[~verdicts["kept"], "reason"].value_counts()
    why = "; ".join(f"{count} dropped: {reason}" for reason, count in lost.items())
    kept = int(verdicts["kept"].sum())
    return [f"The gate kept the sweeps of {kept:,} of {len(verdicts):,} people" + (f"; {why}." if why else ".")]


def _notes(
    name: str,
    tags: Mapping[tuple[str, str, int], frozenset[str]],
    backgrounds: pd.DataFrame,
    typology: Typology,
    asked: pd.DataFrame,
) -> list[str]:
    notes = []
    share = checks.known_share(tags, typology)
    if share < KNOWN:
        notes.append(f"{name}: the typology {typology.name} knows {share:.1%} of its tags; give another.")
    if typology.partial:
        notes.append(f"{name}: the typology {typology.name} is partial.")
    for key, flags in checks.background_flags(tags, backgrounds, typology).items():
        notes.append(f"{name}, background {key}: {'; '.join(flags)}.")
    other = asked[(asked["classifier"] == name) & (asked["status"] != "answered")]
    other = other[~other["attribute"].isin(["empty", "silhouette"])]  # nobody is in them: many taggers have no answer
    if len(other):
        notes.append(f"{name}: {len(other):,} pictures of people were refused or failed; they are left out pairwise.")
    return notes


def _balance(balance: pd.DataFrame) -> list[str]:
    notes = []
    for row in balance[balance["p"] < 0.05].to_dict("records"):
        what = "face height" if row["measure"] == "face_height" else "person share"
        one, other = f"{row['mean_one']:.3f}", f"{row['mean_other']:.3f}"
        share = f"{one} of the canvas for {row['one']}, {other} for {row['other']}"
        notes.append(f"The {what} differs: {share} (p {row['p']:.2g}); --size-by face makes all faces of one height.")
    return notes


def _write(run: Path, found: dict[str, pd.DataFrame]) -> None:
    for table in schemas.CONTEXT_TABLES:
        frame = found.get(table.name)
        if frame is None:
            continue
        for column in table.columns:
            if column not in frame:
                frame[column] = np.nan if table.schema.field(column).nullable else ""
        found[table.name] = frame[table.columns]
        runfolder.write_table(table, found[table.name], run / f"{table.name}.parquet")
