"""What ``import gslopes`` offers: audits, comparisons and tables for people who work in Python."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pandas as pd

from gslopes.core.errors import UsageError
from gslopes.core.records import Classifier
from gslopes.run.config import Options
from gslopes.score.classifiers.python import PythonClassifier

if TYPE_CHECKING:
    from gslopes.run.outcome import Audit
    from gslopes.studies.captions import CaptionsAudit

Function = Callable[[list[Any]], Sequence[Mapping[str, float] | None]]
_SCORES = ("photo", "value", "label", "score")


def audit(
    photos: str | Path,
    out: str | Path,
    *,
    classifier: str | Function | Classifier | Sequence[str | Function | Classifier] | None = None,
    classifiers: Sequence[Classifier] = (),
    progress: bool = False,
    trust: bool = False,
    **options: Any,
) -> Audit:
    """Measure how a classifier's labels go along with how the faces in a folder of photos look.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: the folder.  out: the run folder, made if missing.
    classifier: a name such as ``celeba-tagger`` or ``onnx:model.onnx``, a function, or several. A function takes a
        list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns for each a mapping of label to score in
        [0, 1], or None where it will not answer.
    classifiers: ready objects, beside those of ``classifier``.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights; remembered for this
        run folder and file, see ``gslopes.core.trust``.
    options: as of ``gslopes audit --help``, with underscores: attribute, steps, range, placebo, gate, limit, seed, ...

    Returns an ``Audit``, which shows itself in a notebook: run (Path), page (Path), slopes (DataFrame; one row a
    classifier, attribute, label and estimator), photos, used, skipped, dropped.  Columns of ``slopes``: classifier,
    attribute, label, n, active, varying, y_centre, slope, intercept, se, t, p, ci_low, ci_high, p_perm, q, estimator,
    unit, boot_low, boot_high, bca_low, bca_high, p_max, agreement, note, decision (finding, placebo, open, none,
    unjudged), reason, detail, and more: see core.tables.SLOPES.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.

        def brightness(pictures):
            return [{"bright": float(picture.mean() / 255)} for picture in pictures]

        audit = gslopes.audit("photos", "run", attribute="gender", classifier=brightness)
    """
    from gslopes.executors import OneProcess
    from gslopes.run import stages

    check_names(
        "audit", options, {*Options.__annotations__, "classifier", "classifiers", "progress", "components", "trust"}
    )
    given = _listed(classifier)
    names = tuple(one for one in given if isinstance(one, str))
    objects = [one for one in given if not isinstance(one, str)]
    ready = (*(FunctionClassifier(one) if inspect.isroutine(one) else one for one in objects), *classifiers)
    if names:
        options["classifier"] = names
    executor = OneProcess(progress=progress)
    return stages.audit(photos, out, classifiers=ready, executor=executor, trust=trust, **options)


def slopes(
    frame: pd.DataFrame,
    *,
    photo: str = "photo",
    value: str = "value",
    label: str = "label",
    score: str | None = "score",
    attribute: str = "gender",
    classifier: str = "classifier",
    permutations: int = 10_000,
    bootstrap: int = 2_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Slopes of any answers, from any tool: which labels were returned for which edited picture.

    frame: one row for each label that was returned; rows with a missing label (None) say that there was none.  Every
        photo in it is taken to be answered at every value in it: leave out photos that were refused somewhere.
    photo, value, label, score: names of its columns. value: of the attribute, a number; at least three, odd in number,
        0 in the middle. score: in [0, 1]; None if there is none.
    attribute, classifier: only names, for the table.
    permutations, bootstrap: resamples; 0 for none.  seed: of both.

    Returns one row a label and estimator: classifier, attribute, label, n, active, y_centre, slope, se, t, p, ci_low,
    ci_high, p_perm, q, estimator, unit, ...  Rows with ``estimator == "photo-rate"`` are in percentage points per unit.

    Raises: UsageError if a column is missing; TableError, ConfigError for values that make no sweep.

    >>> rows = [(photo, step - 1.0, "smile", 0.9) for photo in range(20) for step in range(3) if step + photo % 2]
    >>> found = slopes(pd.DataFrame(rows, columns=["photo", "value", "label", "score"]), permutations=0, bootstrap=0)
    >>> found.query("estimator == 'photo-rate'")[["label", "slope"]].values.tolist()
    [['smile', 25.0]]
    """
    from gslopes.core import tables
    from gslopes.fit import FitOptions, analyse

    wanted = {"photo": photo, "value": value, "label": label, **({} if score is None else {"score": score})}
    for role, column in wanted.items():
        if column not in frame:
            close = get_close_matches(column, map(str, frame.columns), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            columns = ", ".join(map(repr, frame.columns))
            raise UsageError(f"There is no column {column!r} for {role}.", f"{hint}The table has {columns}.")
    plain = pd.DataFrame({role: frame[column] for role, column in wanted.items()})
    plain["photo"] = plain["photo"].astype(str)
    plain["value"] = plain["value"].astype(float)
    values = sorted(plain["value"].unique())
    plain["step"] = plain["value"].map({number: place for place, number in enumerate(values)})
    if score is None:
        plain["score"] = 1.0
    plain = plain.assign(attribute=attribute, classifier=classifier)
    everywhere = pd.MultiIndex.from_product([plain["photo"].unique(), range(len(values))], names=["photo", "step"])
    asked = everywhere.to_frame(index=False).assign(attribute=attribute, classifier=classifier, status="answered")
    asked = asked.assign(reason="", detail="")[list(tables.ASKED.columns)]
    scores = plain[plain["label"].notna()].reindex(columns=tables.SCORES.columns)
    options = FitOptions(permutations=permutations, bootstrap=bootstrap, seed=seed)
    return analyse(scores, asked, values={attribute: values}, options=options).slopes


def compare(run_a: str | Path, run_b: str | Path, *, pairs: Sequence[tuple[str, str]] = ()) -> pd.DataFrame:
    """What changed between two scored runs over the same photos, label by label.

    run_a, run_b: run folders.  pairs: (classifier of the first, classifier of the second); same names by default.

    Returns one row a classifier, attribute and label: first_classifier, n, active, slope, other_slope, difference, se,
    p, ci_low, ci_high, q, note; slopes and differences in percentage points per unit, difference = second minus first.

    Raises: UsageError if the runs have nothing in common; TableError.
    """
    from gslopes.studies.compare import compare_runs

    return compare_runs(run_a, run_b, pairs)


def validate(run: str | Path, *, photos_csv: str | Path | None = None, groups: Sequence[str] = ()) -> pd.DataFrame:
    """Judge the sweeps of a run folder, if that was not done: do they move their target, and what else?

    photos_csv, groups: a CSV about the photos, and those of its columns that make groups.

    Returns one row an attribute and measure: attribute, measure (``kept``, ``shift``, ``monotone``, ``leakage``,
    ``identity``, ``shift by <column>``), name, value, low, high (95 % interval over photos).

    Raises: UsageError, ModelError, TableError, StorageError.
    """
    from gslopes.executors import OneProcess
    from gslopes.run import stages
    from gslopes.run.validation import summarise

    folder = Path(run)
    stages.run_gate(folder, OneProcess(), device="cpu")
    rows: list[tuple[str, str, str, Any, Any, Any]] = []
    for one in summarise(folder, None if photos_csv is None else Path(photos_csv), groups):
        rows.append((one.attribute, "kept", "", one.kept / max(one.sweeps, 1), None, None))
        measured = [("shift", "", one.shift), ("monotone", "", one.monotone)]
        measured += [("leakage", name, share) for name, share in one.leakage.items()]
        measured += [("identity", name, cosine) for name, cosine in one.identity.items()]
        for column, by_group in one.groups.items():
            measured += [(f"shift by {column}", name, group.number) for name, group in by_group.each.items()]
        rows += [(one.attribute, kind, name, e.value, e.low, e.high) for kind, name, e in measured if e is not None]
    return pd.DataFrame(rows, columns=["attribute", "measure", "name", "value", "low", "high"])


def census(photos: str | Path, out: str | Path, **options: Any) -> pd.DataFrame:
    """How the faces in a folder of photos are read, by occupation (the sub-folder, or the collection's manifest).

    out: the census folder.  options: confidence, min_face, limit, review, device; see ``gslopes census --help``.

    Returns one row an occupation: n, answered, female, female_low, female_high, male, male_low, male_high,
    other_answers, women (share of women among people employed; US Bureau of Labor Statistics).

    Raises: UsageError, ModelError, StorageError.
    """
    from gslopes.core.config import from_dict
    from gslopes.report.composition import table3
    from gslopes.studies.census.census import CensusConfig
    from gslopes.studies.census.census import census as count

    check_names("census", options, set(CensusConfig.__dataclass_fields__))
    found = count(Path(photos), Path(out), from_dict(CensusConfig, options))
    return table3(found.composition, found.women)


def captions(stages: str | Path, out: str | Path, *, progress: bool = False, **options: Any) -> CaptionsAudit:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, a TOML file that names them, or a run of
        this audit, which is measured again with the answers of its review.
    out: the run folder, made if missing.
    options: as of ``gslopes captions --help``, with underscores: groups, columns, pairs, techniques, lists, parser, ...

    Returns a ``CaptionsAudit``: run, page, review (Paths); measures, inclusions, salience, cases, techniques
    (DataFrames); failed, the number of captions that were no text; notes. No number is a total or ranks captioners.

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.captions("STAGES", "RUN", groups="groups.csv", techniques=("S1", "D2"))
        audit.measures, audit.cases, audit.page
    """
    from gslopes.audits.captions.options import AuditOptions
    from gslopes.executors import OneProcess
    from gslopes.studies.captions import CaptionsConfig
    from gslopes.studies.captions import captions as study
    from gslopes.studies.captions.config import config_of

    fields = {**CaptionsConfig.__dataclass_fields__, **AuditOptions.__dataclass_fields__}
    check_names("captions", options, set(fields) - {"options"})
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    return study(Path(stages), Path(out), config_of(plain), executor=OneProcess(progress=progress))


def collect(out: str | Path, *, source: str, **options: Any) -> pd.DataFrame:
    """Photos of people at work from a source, with licence, creator and page of each.

    out: the folder, made if missing.  source: openverse, wikimedia, google, a list or a folder; see
        ``gslopes collect --help``.  options: occupations, keywords, per_query, near, min_side, gap, contact.

    Returns the manifest, one row a photo.

    Raises: UsageError, CredentialsError, StorageError.
    """
    from gslopes.core import tables
    from gslopes.core.collection import MANIFEST
    from gslopes.core.config import from_dict
    from gslopes.studies.collect import CollectConfig, plan_collection
    from gslopes.studies.collect import collect as gather

    check_names("collect", options, set(CollectConfig.__dataclass_fields__))
    folder = Path(out)
    gather(plan_collection(from_dict(CollectConfig, {"source": source, **options}), folder))
    return tables.read(MANIFEST, folder / f"{MANIFEST.name}.parquet")


def drawn_faces(out: str | Path, faces: int = 60, seed: int = 0) -> dict[str, Any]:
    """Draw faces into a folder, to try things without photos of anybody: whom they show is known, since nobody is.

    out: the folder, made if missing.  faces: how many; 160 by 160 px each.  seed: of all random draws.

    Returns arguments of ``audit``: photos, the known faces and masks, and the editor of drawn faces.

        gslopes.audit(out="run", classifier=my_function, **gslopes.drawn_faces("drawn"))

    Raises: StorageError; UsageError for fewer than one face.
    """
    from gslopes.datasets import rendered
    from gslopes.datasets.rendered.folder import FACES, MASKS
    from gslopes.studies.demo import EDITOR, SIZE, drawn

    if faces < 1:
        raise UsageError(f"{faces} faces cannot be drawn.", "Give at least 1; 40 and more for a finding.")
    folder = Path(out)
    photos = rendered.write_folder(drawn(faces, seed), folder, SIZE)
    known = {"landmarks": folder / FACES, "masks": folder / MASKS}
    # the gate's reader and its detector know photos, not drawings
    return {"photos": photos, **known, "editor": EDITOR, "gate": False}


def train(
    recipe: str | Path,
    *,
    data: str | Path,
    steps: int | None = None,
    dry_run: bool = False,
    device: str = "auto",
    out: str | Path | None = None,
) -> Path:
    """Train what a recipe says; called again, it goes on from its last checkpoint.

    recipe: a name such as ``fader-gender``, or a path to a TOML file.  data: the folder of the data sets.
    steps: fewer or more than the recipe says.  dry_run: check everything and print what would be done.
    device: auto, cpu, cuda or cuda:N.  out: where the weights go, ``weights/<model>`` by default.

    Returns the folder of the weights, with metrics.json, the log and sample sheets.

    Raises: ConfigError, UnknownName, DataMissing, UsageError.
    """
    from gslopes.core.runtime import pick_device
    from gslopes.train.recipe import run_recipe

    place = None if out is None else Path(out)
    ready = pick_device(device)
    return run_recipe(recipe, data=Path(data), steps=steps, dry_run=dry_run, device=ready, out=place)


class FunctionClassifier(PythonClassifier):
    """A function as a classifier; another text is another classifier.

    Its version is a digest of its source, and of the functions and plain values of its own module that it names.

    Answers are kept in the run folder alone: a function may depend on what its source does not show.
    """

    def __init__(self, function: Function) -> None:
        name = "".join(char if char.isalnum() or char in "_-" else "-" for char in function.__name__).strip("-")
        self.name = name or "function"
        self.version = hashlib.sha256("\0".join(_sources(function, set())).encode()).hexdigest()[:16]
        self.cached = False
        self.batch = 32
        self._function = function
        self._answered = False


def _sources(function: Any, seen: set[int]) -> Iterator[str]:
    """The source of a function, and of what it names: functions of its own module, and plain values."""
    seen.add(id(function))
    yield _source(function)
    code, here = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if code is None:
        return
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    for value in [*(here[name] for name in _names(code) if name in here), *cells]:
        if isinstance(value, FunctionType) and value.__module__ == function.__module__ and id(value) not in seen:
            yield from _sources(value, seen)
        elif isinstance(value, (str, int, float, tuple)):
            yield repr(value)


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function's code looks up outside of it, in its comprehensions too."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _source(function: Function) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into a console, or compiled
        code = getattr(function, "__code__", None)
        return repr(function) if code is None else f"{code.co_code!r} {code.co_consts!r} {code.co_names!r}"


def check_names(verb: str, given: Mapping[str, Any], known: set[str]) -> None:
    """Raises: UsageError for an argument that there is not, with the nearest one."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
            hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(sorted(known))}."
            raise UsageError(f"gslopes.{verb} has no argument {name!r}.", hint)


def _listed(classifier: Any) -> list[Any]:
    if classifier is None:
        return []
    return list(classifier) if isinstance(classifier, (list, tuple)) else [classifier]
