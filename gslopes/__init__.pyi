# Written by docs/hooks/from_options.py from the functions and the options they take.

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from pandas import DataFrame

from gslopes.ask.classifiers import Given
from gslopes.ask.editors.python import FunctionEditor
from gslopes.core import Executor
from gslopes.core.crossed import Values
from gslopes.core.records import Classifier, Finder
from gslopes.crops.asking import Croppers
from gslopes.export import Exported, Form
from gslopes.faces.components import Components
from gslopes.frame.result import Result, load as load
from gslopes.slopes.compare import compare_runs as compare_runs
from gslopes.slopes.demo import drawn_faces as drawn_faces
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.outcome import Walked
from gslopes.slopes.page import write_report as write_report

class _ModelOptions(TypedDict, total=False):
    size: int
    """Default: 0."""
    white: float
    """Default: 0.0."""
    mean: Sequence[float]
    """Default: (0.0, 0.0, 0.0)."""
    std: Sequence[float]
    """Default: (1.0, 1.0, 1.0)."""
    channels: Literal["rgb", "bgr"]
    """Default: 'rgb'."""
    threshold: float | None
    """Default: None."""
    top_k: int | None
    """Default: None."""
    activation: Literal["none", "sigmoid", "softmax"]
    """Default: 'none'."""
    kind: Literal["score", "number"]
    """Default: 'score'."""
    layout: Literal["nchw", "nhwc"]
    """Default: 'nchw'."""

class _PythonOptions(TypedDict, total=False):
    version: str
    """Default: ''."""
    takes: Literal["photo", "chip"]
    """Default: 'photo'."""
    size: int
    """Default: 0."""
    prompt: str
    """Default: ''."""
    batch: int
    """Default: 4."""

class _RunOptionsFind(TypedDict, total=False):
    min_face: int | None
    """Smallest face to edit, pixels. [PX; default: 32]"""
    landmarks: str | Path | None
    """Known faces instead of a face detector. [CSV]"""

class _RunOptionsEdit(TypedDict, total=False):
    attributes: str | Sequence[str] | None
    """The attribute to edit; may be repeated. [default: gender]"""
    steps: int | None
    """Number of values in a sweep, odd. [default: 7; race: 5]"""
    range: Sequence[float] | str | None
    """Ends of a sweep, or one number. [LOW,HIGH; default: -2,2]"""
    model: str | None
    """The model that edits, or a kind: fader is gender-fader for gender. [MODEL; default: the attribute's own]"""
    ends: str | Sequence[str] | None
    """Named ends to edit towards, with commas, of an editor that has some; --baseline says what they are compared
    with. [NAMES; default: all of them]
    """
    calibrated: bool | None
    """Let the editor's table say where it stands at each value; else the network gets the values themselves.
    [default: true]
    """

class _RunOptionsCompose(TypedDict, total=False):
    region: Literal["auto", "face", "skin", "head"] | None
    """Which part of the face may change. [default: the editor's own: face]"""
    blend: Literal["auto", "difference", "ratio", "paste", "whole"] | None
    """How an edit is blended into the photo. [default: the editor's own]"""
    format: Literal["jpeg", "png"] | None
    """File format of the pictures. [default: jpeg]"""
    masks: str | Path | None
    """Known masks instead of a face parser. [DIR]"""
    parser: str | Path | None
    """BiSeNet's checkpoint, a file of yours, instead of our face parser. [FILE]"""
    placebo: bool | None
    """Add three sweeps that should move nothing, which findings must exceed. Four times the pictures; paid
    classifiers are asked about a sample of them. [default: on]
    """

class _RunOptionsGate(TypedDict, total=False):
    on: bool | None
    """Ask only about sweeps in which the face is found again and its reading follows the edit while little else
    changes. [default: on, but off with known landmarks]
    """
    tau: float | None
    """Minimum tau-b of the reading with the values; 1 allows no step back. [default: 0.6]"""
    shift: float | None
    """Minimum change of the reading, in [0, 1], last minus first. [default: 0.1]"""
    off_target: float | None
    """Maximum slope of any other reading, per unit. [default: 0.15]"""
    identity: float | None
    """Minimum similarity of the face to the photo's own, of pictures that an editor of others gave. Needs the extra
    identity. [default: 0.88]
    """

class _RunOptionsScore(TypedDict, total=False):
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    batch: bool | None
    """Ask language models by batch: half the price, within a day; stop, and come back with the same command."""
    classifiers: str | Sequence[str] | None
    """The classifier to audit; may be repeated. [default: celeba-tagger]"""
    tasks: str | Sequence[str] | None
    """What every llm: classifier, or transformers:MODEL,task=answer, without a prompt is asked, by name or file; may
    be repeated. [NAME|TOML]
    """
    placebo_sample: int | None
    """Photos whose placebo sweeps are asked about if asking costs money. [default: 200]"""
    dropped_sample: int | None
    """Sweeps that the gate dropped, asked about for comparison; not in the tables. [default: 50]"""
    unedited: bool | None
    """Ask about each photo as it was, too. [default: with groups]"""
    judges: str | Sequence[str] | None
    """A language model that marks free texts, such as of impression, by a rubric."""

class _RunOptionsFit(TypedDict, total=False):
    permutations: int | None
    """Permutations within photos; 0 for none. [default: 10000]"""
    presence: str | None
    """Which labels count: those that the vendor returns by default, all, or from a score on. [vendor|none|SCORE;
    default: vendor]
    """
    min_varying: int | None
    """Labels varying on fewer photos are not judged. [default: 10]"""
    photos_csv: str | Path | None
    """A CSV with one row per photo, for --groups, --cluster and --truth. [CSV]"""
    groups: str | Sequence[str] | None
    """Column; slopes for each of its values. 'a + b' crosses two. [COLUMN]"""
    cluster: str | None
    """Column; photos with the same value are one unit. [COLUMN]"""
    truth: str | Sequence[str] | None
    """Column with the right label of each photo, or LABEL=COLUMN with yes or no: error rates by value. [COLUMN]"""

class _RunOptionsReport(TypedDict, total=False):
    embed: Literal["thumbs", "none"] | None
    """Pictures in the page: small squares around the face, or none, and no file names. [default: thumbs]"""
    p: float | None
    """Labels of the paper's tables have a p below this. [default: 0.001]"""
    slope: float | None
    """Labels of the paper's tables have a |slope| above this. [default: 0.03]"""
    labels: str | Sequence[str] | None
    """A label of Figures 2 and 3; may be repeated. [LABEL; default: the commonest and steepest]"""

class _RunOptions(TypedDict, total=False):
    pairs: str | Path | None
    """A set that others made, in place of PHOTOS; its columns by unit=COLUMN, attribute=COLUMN, value=COLUMN, or
    layout=FILE. [SET[,key=value]]
    """
    baseline: str | None
    """The named value in --pairs, or end of an editor, that the rest is compared with; of several attributes with
    commas. [VALUE; default: the commonest; of our editors the photo as it is]
    """
    limit: int | None
    """Only the first N photos."""
    seed: int | None
    """Seed of all random draws. [default: 0]"""
    part: int | None
    """Photos in a part, the unit of work and of resuming. [default: 32]"""
    device: str | None
    """Where the networks run. [auto|cpu|cuda[:N]; default: auto]"""
    engine: Literal["auto", "one", "ray"] | None
    """Where the work runs: on this machine (one, auto), whose GPU, if it has one, serves several processes; or on a
    Ray cluster ($RAY_ADDRESS, or one started here) whose machines all have gslopes, and best see photos and run
    folder under the same paths. [default: auto]
    """
    workers: int | None
    """Threads; processes that share a GPU; or workers of the cluster. [default: one per core, two with a GPU]"""
    cross: bool | None
    """Edit each photo at every pair of values of two attributes, and fit how one's slope depends on the other."""
    grid: Sequence[int] | str | None
    """With --cross, the numbers of values of both attributes, odd. [N,M; default: 5,3]"""
    min_face: int | None
    """Smallest face to edit, pixels. [PX; default: 32]"""
    landmarks: str | Path | None
    """Known faces instead of a face detector. [CSV]"""
    attribute: str | Sequence[str] | None
    """The attribute to edit; may be repeated. [default: gender]"""
    steps: int | None
    """Number of values in a sweep, odd. [default: 7; race: 5]"""
    range: Sequence[float] | str | None
    """Ends of a sweep, or one number. [LOW,HIGH; default: -2,2]"""
    ends: str | Sequence[str] | None
    """Named ends to edit towards, with commas, of an editor that has some; --baseline says what they are compared
    with. [NAMES; default: all of them]
    """
    calibrated: bool | None
    """Let the editor's table say where it stands at each value; else the network gets the values themselves.
    [default: true]
    """
    region: Literal["auto", "face", "skin", "head"] | None
    """Which part of the face may change. [default: the editor's own: face]"""
    blend: Literal["auto", "difference", "ratio", "paste", "whole"] | None
    """How an edit is blended into the photo. [default: the editor's own]"""
    format: Literal["jpeg", "png"] | None
    """File format of the pictures. [default: jpeg]"""
    masks: str | Path | None
    """Known masks instead of a face parser. [DIR]"""
    parser: str | Path | None
    """BiSeNet's checkpoint, a file of yours, instead of our face parser. [FILE]"""
    placebo: bool | None
    """Add three sweeps that should move nothing, which findings must exceed. Four times the pictures; paid
    classifiers are asked about a sample of them. [default: on]
    """
    gate: _RunOptionsGate | bool | None
    """Ask only about sweeps in which the face is found again and its reading follows the edit while little else
    changes. [default: on, but off with known landmarks] Or the options on, tau, shift, off_target, identity as
    one mapping.
    """
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    batch: bool | None
    """Ask language models by batch: half the price, within a day; stop, and come back with the same command."""
    task: str | Sequence[str] | None
    """What every llm: classifier, or transformers:MODEL,task=answer, without a prompt is asked, by name or file; may
    be repeated. [NAME|TOML]
    """
    placebo_sample: int | None
    """Photos whose placebo sweeps are asked about if asking costs money. [default: 200]"""
    dropped_sample: int | None
    """Sweeps that the gate dropped, asked about for comparison; not in the tables. [default: 50]"""
    unedited: bool | None
    """Ask about each photo as it was, too. [default: with groups]"""
    judge: str | Sequence[str] | None
    """A language model that marks free texts, such as of impression, by a rubric."""
    photos_csv: str | Path | None
    """A CSV with one row per photo, for --groups, --cluster and --truth. [CSV]"""
    groups: str | Sequence[str] | None
    """Column; slopes for each of its values. 'a + b' crosses two. [COLUMN]"""
    cluster: str | None
    """Column; photos with the same value are one unit. [COLUMN]"""
    truth: str | Sequence[str] | None
    """Column with the right label of each photo, or LABEL=COLUMN with yes or no: error rates by value. [COLUMN]"""
    embed: Literal["thumbs", "none"] | None
    """Pictures in the page: small squares around the face, or none, and no file names. [default: thumbs]"""
    as_published: bool | None
    """Follow Joo and Kärkkäinen (2020) in all that can be set: Fader Networks at the values themselves, skin, paste,
    no gate. gslopes audit --method lists what still differs.
    """
    config: str | Path | None
    """A TOML file with these options, and with sections."""
    find: _RunOptionsFind | None
    """The options min_face, landmarks as one mapping."""
    edit: _RunOptionsEdit | None
    """The options attributes, steps, range, model, ends, calibrated as one mapping."""
    compose: _RunOptionsCompose | None
    """The options region, blend, format, masks, parser, placebo as one mapping."""
    score: _RunOptionsScore | None
    """The options cache, budget, budget_total, confirm_above, yes, retry_failed, batch, classifiers, tasks,
    placebo_sample, dropped_sample, unedited, judges as one mapping.
    """
    fit: _RunOptionsFit | None
    """The options permutations, presence, min_varying, photos_csv, groups, cluster, truth as one mapping."""
    report: _RunOptionsReport | None
    """The options embed, p, slope, labels as one mapping."""

class _CaptionsOptionsOptions(TypedDict, total=False):
    types: int | None
    """Object types of S2; the paper has 500. [default: 100]"""
    as_published: bool | None
    """S2 by the paper's regressions over splits, whose estimate is biased; no p."""

class _CaptionsOptions(TypedDict, total=False):
    groups: str | Path | None
    """Groups of the people depicted: image and one column for each. [CSV]"""
    column: str | Sequence[str] | None
    """Column of the groups; may be repeated; a + b crosses two. [default: all]"""
    truth: str | None
    """The stage taken as truth. [STAGE; default: human-labels, else human-captions]"""
    technique: str | Sequence[str] | None
    """A technique, such as S1; may be repeated. [default: all]"""
    list: Mapping[str, str | Path] | None
    """A word list of your own. [NAME=FILE]"""
    senses: Literal["overrides", "paper"] | None
    """Sense rule. [default: overrides]"""
    tuples: str | Path | None
    """The captions as tuples of another parser; see tables.toml. [PARQUET]"""
    limit: int | None
    """Only the first N images."""
    images: str | Path | None
    """Photos that the review links to, blurred. [DIR]"""
    review: str | Path | None
    """Answers saved by the review. [CSV; default: RUN/review.csv]"""
    types: int | None
    """Object types of S2; the paper has 500. [default: 100]"""
    as_published: bool | None
    """S2 by the paper's regressions over splits, whose estimate is biased; no p."""
    config: str | Path | None
    """A TOML file with these options, and with sections."""
    options: _CaptionsOptionsOptions | None
    """The options types, as_published as one mapping."""

class _ContextsOptionsPictures(TypedDict, total=False):
    backgrounds: str | Sequence[str] | None
    """rendered or a folder; may be repeated. [DIR; default: rendered]"""
    cutout: Literal["auto", "alpha", "eraser", "studio"] | None
    """How people are cut out. [default: auto; as published eraser]"""
    canvas: Sequence[int] | str | None
    """Size of the pictures. [WxH; default: 768x512]"""
    person_share: float | None
    """Share of the picture that a person is. [default: 0.25]"""
    sweep: Literal["", "gender", "race"] | None
    """Also K counterfactuals of each person in each context."""
    steps: int | None
    """Number of values in the sweep, odd."""
    landmarks: str | Path | None
    """Known faces instead of a face detector. [CSV]"""

class _ContextsOptionsAnalysis(TypedDict, total=False):
    typology: str | Sequence[str] | None
    """Dictionaries of tags, merged left to right. [NAME|FILE]"""
    ratings: str | Path | None
    """Crowd ratings of the contexts. [CSV]"""

class _ContextsOptionsScore(TypedDict, total=False):
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    batch: bool | None
    """Ask language models by batch: half the price, within a day; stop, and come back with the same command."""

class _ContextsOptions(TypedDict, total=False):
    people: str | Path | None
    """Self-reported gender of each photo's person, a CSV; or cfd. [CSV]"""
    group_column: str | None
    """Column of that CSV with the group; a + b crosses two. [default: ethnicity]"""
    review: str | Path | None
    """Your decisions about cut-outs: a photo and accept or exclude in each row. [CSV]"""
    preset: Literal["default", "published"] | None
    """Defaults of gslopes, or the choices of Barlas et al. 2020: one picture a context. [default: default]"""
    seed: int | None
    """Seed of all random draws. [default: 0]"""
    device: str | None
    """Where the networks run. [auto|cpu|cuda[:N]; default: auto]"""
    backgrounds: str | Sequence[str] | None
    """rendered or a folder; may be repeated. [DIR; default: rendered]"""
    cutout: Literal["auto", "alpha", "eraser", "studio"] | None
    """How people are cut out. [default: auto; as published eraser]"""
    canvas: Sequence[int] | str | None
    """Size of the pictures. [WxH; default: 768x512]"""
    person_share: float | None
    """Share of the picture that a person is. [default: 0.25]"""
    sweep: Literal["", "gender", "race"] | None
    """Also K counterfactuals of each person in each context."""
    steps: int | None
    """Number of values in the sweep, odd."""
    landmarks: str | Path | None
    """Known faces instead of a face detector. [CSV]"""
    typology: str | Sequence[str] | None
    """Dictionaries of tags, merged left to right. [NAME|FILE]"""
    ratings: str | Path | None
    """Crowd ratings of the contexts. [CSV]"""
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    batch: bool | None
    """Ask language models by batch: half the price, within a day; stop, and come back with the same command."""
    config: str | Path | None
    """A TOML file with these options, and with sections."""
    pictures: _ContextsOptionsPictures | None
    """The options backgrounds, cutout, canvas, person_share, sweep, steps, landmarks as one mapping."""
    analysis: _ContextsOptionsAnalysis | None
    """The options typology, ratings as one mapping."""
    score: _ContextsOptionsScore | None
    """The options cache, budget, budget_total, confirm_above, yes, retry_failed, batch as one mapping."""

class _CropsOptionsCostLimits(TypedDict, total=False):
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""

class _CropsOptions(TypedDict, total=False):
    cropper: str | Sequence[str] | None
    """The cropper; may be repeated: spectral-residual, fine-grained, faces, centre, random, smartcrop, http:URL,
    fastgaze:PATH, onnx:PATH, torchscript:PATH, python:MODULE:FUNCTION, replay:FILE. [default: spectral-residual]
    """
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    people: str | Path | None
    """Who is on each photo, and of which groups. [CSV]"""
    groups: str | Sequence[str] | None
    """Columns of the people's CSV to compare; several are crossed. [COLUMN,COLUMN; default: gender]"""
    seed: int | None
    """Seed of all random draws. [default: 0]"""
    ratios: float | Sequence[float] | str | None
    """Height/width of the crops. [R,R; default: 0.56,1,1.14,2]"""
    as_published: bool | None
    """The choices of Yee et al. 2021."""
    height: int | None
    """Resize photos to this height before joining. [PX]"""
    attach: Literal["horizontal", "vertical"] | Sequence[Literal["horizontal", "vertical"]] | None
    """How photos are joined: side by side, or one above the other; may be repeated. [default: horizontal]"""
    pairs: int | None
    """At most N pairs of photos, balanced over people; as published, N for each pair of groups. [default: all, up to
    20,000 pictures; as published 10,000]
    """
    policy: str | Sequence[str] | None
    """How a map becomes a crop; may be repeated. [default: argmax,sample]"""
    min_group: int | None
    """Smaller groups are shown and not judged. [default: 10]"""
    source: str | None
    """How groups are known, such as self-reported. [WORDS; default: given]"""
    embed: Literal["thumbs", "full", "none"] | None
    """Pictures inside the page. [default: thumbs]"""
    config: str | Path | None
    """A TOML file with these options, and with sections."""
    cost_limits: _CropsOptionsCostLimits | None
    """The options cache, budget, budget_total, confirm_above, yes, retry_failed as one mapping."""

class _CensusOptions(TypedDict, total=False):
    confidence: float | None
    """Readings less certain than this go to the review. [default: 0.9]"""
    reader: str | Path | None
    """FairFace's ResNet-34 of seven races, a file of yours. [FILE; default: the shipped reader]"""
    unsure: str | Sequence[str] | None
    """What a reading must be sure of not to go to the review: gender, race, age; may be repeated. [READING; default:
    gender]
    """
    device: str | None
    """Where the networks run. [auto|cpu|cuda[:N]; default: auto]"""
    config: str | Path | None
    """A TOML file with these options, and with sections."""

class _CollectOptions(TypedDict, total=False):
    source: str | None
    """openverse or urls:FILE; wikidata, or wikidata:groups=Q-IDS with / between: people of named ethnic groups, with
    a people.csv. [default: openverse]
    """
    occupations: str | None
    """bls-129, a CSV, or jobs: chef,nurse. [LIST; default: bls-129]"""
    keywords: str | None
    """paper (six and none), none, a CSV, or words. [LIST; default: paper]"""
    per_query: int | None
    """Photos per search. [default: 250]"""
    per_person: int | None
    """Photos of each person, at most: further ones are files of Commons that are said to show the person; of
    wikidata. [default: those that Wikidata names]
    """
    min_side: int | None
    """Minimum length of the shorter side, pixels. [PX; default: 64]"""
    gap: float | None
    """Seconds between requests to one host. [default: 1]"""
    contact: str | None
    """How site operators can reach you; sent in the user agent. [MAIL]"""
    config: str | Path | None
    """A TOML file with these options, and with sections."""

class _ExportOptions(TypedDict, total=False):
    split: float | None
    """Share of the photos in the split 'train'; the rest is 'test'. [SHARE]"""
    split_by: str | None
    """Column of --photos-csv; photos with the same value, such as a person, stay together. [COLUMN]"""
    photos_csv: str | Path | None
    """A CSV with one row per photo: its columns are exported. [CSV]"""
    config: str | Path | None
    """A TOML file with these options, and with sections."""

class _ColumnsOptions(TypedDict, total=False):
    photo: str | None
    """The photo's id. [default: photo]"""
    value: str | None
    """The attribute's value in the picture. [default: value]"""
    label: str | None
    """A label that was returned, or None. [default: label]"""
    score: str | None
    """The score that came with it. [default: score]"""
    classifier: str | None
    """The classifier's name. [default: classifier]"""
    attribute: str | None
    """The edited attribute. [default: attribute]"""

class _ScoreOptions(TypedDict, total=False):
    cache: str | Path | None
    """Where answers are cached. [DIR; default: $GSLOPES_CACHE or your cache folder]"""
    budget: float | None
    """Stop before more than this is spent. [USD]"""
    budget_total: float | None
    """Stop before all commands with this cache together have spent more than this. [USD]"""
    confirm_above: float | None
    """Ask for confirmation above this cost. [USD; default: 10]"""
    yes: bool | None
    """Do not ask for confirmation of the cost."""
    retry_failed: bool | None
    """Retry pictures that failed."""
    batch: bool | None
    """Ask language models by batch: half the price, within a day; stop, and come back with the same command."""
    task: str | Sequence[str] | None
    """What every llm: classifier, or transformers:MODEL,task=answer, without a prompt is asked, by name or file; may
    be repeated. [NAME|TOML]
    """
    placebo_sample: int | None
    """Photos whose placebo sweeps are asked about if asking costs money. [default: 200]"""
    dropped_sample: int | None
    """Sweeps that the gate dropped, asked about for comparison; not in the tables. [default: 50]"""
    unedited: bool | None
    """Ask about each photo as it was, too. [default: with groups]"""
    judge: str | Sequence[str] | None
    """A language model that marks free texts, such as of impression, by a rubric."""
    config: str | Path | None
    """A TOML file with these options, and with sections."""

def as_classifier(
    model: Any,
    labels: Sequence[str] = (),
    *,
    name: str = "",
    unit: str = "",
    version: str = "",
    device: str = "auto",
    **options: Unpack[_ModelOptions],
) -> Classifier:
    """Make a classifier of a function, a torch module or a transformers pipeline.

    model: a function as in ``ask.classifiers.python``; an ``nn.Module``, from pictures (B, 3, S, S) float32 to
        (B, L) outputs; a pipeline for ``image-classification`` or ``zero-shot-image-classification``; or a classifier
        as in core.records, which stays itself.
    labels: L of them, in the order of the outputs; of a function that returns L numbers, a module, or what a zero-shot
        pipeline looks for.
    name: in the tables; empty: the function's or class's own.
    unit: of numbers beyond [0, 1], such as ``years``; a module that gives them needs ``kind="number"``, too.
    version: of the model, part of what a run is; empty: a digest of all that its answers can depend on. If a part has
        no digest, such as a session of a compiled library, its answers are not kept between calls.
    device: of a module.
    options: of a module: ``size`` (side of the pictures, pixels), ``white``, ``mean``, ``std``, ``channels``,
        ``layout``, ``activation``, ``threshold``, ``top_k``, ``kind``; as of ``onnx:``. Of a function: ``activation``.

    Raises: UsageError for any other object, or if something is missing; ConfigError for an option out of its range.

        audit = gslopes.audit("photos", "run", classifier=gslopes.as_classifier(module, ["no", "yes"], size=224))
    """

def as_editor(
    function: Any, *, name: str = "", **options: Unpack[_PythonOptions]
) -> FunctionEditor:
    """Make an editor of a function of a picture and a value, see ``ask.editors.python``.

    name: in the tables; empty: the function's own.
    options: of ``PythonOptions``: ``version``, ``takes``, ``size``, ``prompt``, ``batch``.

    Raises: UsageError if it cannot be called so; ConfigError for an option out of its range.
    """

def audit(
    photos: Any = None,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    editor: Any = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Unpack[_RunOptions],
) -> Walked:
    """Measure how a classifier's labels change with the look of the faces in a folder of photos.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: a folder, paths, a data frame, arrays, PIL images, a torch Dataset; see ``frame.brought.planned``; None with
        ``pairs``, a set of counterfactuals that others made, see ``slopes.pairs``.
    out: the run folder, made if missing; if left out, one is named by date and attribute in the current folder.
    classifier: a name such as ``celeba-tagger`` (the default) or ``onnx:model.onnx``, a function, a transformers
        pipeline, what ``gslopes.as_classifier`` makes of a torch module, an object as in core.records, or several.
        A function takes a picture, (H, W, 3) uint8 RGB, and returns a mapping of label to score in [0, 1], or None
        if it will not answer; ``ask.classifiers.python`` has the other forms.
    editor: a name as of ``--editor``, a function of a picture and a value that gives a picture, see
        ``ask.editors.python``, or an object as in faces.edit.protocol.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights, and so may what the
        run folder alone names, such as ``python:FILE.py:f``, or be sent photos and keys.  It holds for this call.
    executor, components: who does the work, and with what, instead of what the options name.
    options: as of ``gslopes audit --help-all``, with underscores; ``config`` is a TOML file with more.

    Returns: folder, page, summary, findings, tables, photos, used, skipped, dropped; a notebook shows its
    findings. ``findings`` has one row a classifier, attribute and label: slope, interval, q, decision, reason.
    ``tables["slopes"]`` has one row a classifier, attribute, label and estimator; its columns: core.tables.SLOPES.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.

        def brightness(pictures):
            return [{"bright": float(picture.mean() / 255)} for picture in pictures]

        audit = gslopes.audit("photos", "run", attribute="gender", classifier=brightness)
    """

def audit_captions(
    stages: str | Path,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    **options: Unpack[_CaptionsOptions],
) -> Result:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, or a run of this audit: then what depends
        on the options given, such as the answers of its review, is done again.
    out: as of ``gslopes.audit``.
    options: as of ``gslopes captions --help-all``, with underscores: groups, column, technique, list, ...

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.audit_captions("STAGES", "RUN", groups="groups.csv", technique=("S1", "D2"))
        audit.tables["measures"], audit.tables["cases"], audit.page
    """

def audit_contexts(
    photos: Any,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    **options: Unpack[_ContextsOptions],
) -> Result:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.  Called again, it resumes.

    photos: portraits as ``gslopes.audit`` takes them, or a run: then what depends on the options given is done again.
    out: as of ``gslopes.audit``.
    classifier: as ``gslopes.audit`` takes it; an empty list only makes the pictures.  More may be asked later.
    progress, trust, executor: as of ``gslopes.audit``.
    options: as of ``gslopes contexts --help-all``, with underscores; ``people`` is the CSV with self-reported gender.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; what can be known
        beforehand before any work.
    """

def audit_crops(
    photos: Any,
    out: str | Path | None = None,
    *,
    croppers: Croppers = (),
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Unpack[_CropsOptions],
) -> Result:
    """Whom do croppers favour and keep, of two people side by side?  Called again, it resumes.

    photos: portraits, one person each.  photos, out: as ``gslopes.audit`` takes them.
    croppers: in addition to those that ``cropper`` names: functions of pictures to maps, or of pictures and a ratio to
        (left, top, width, height); or ready objects.  finder: instead of MTCNN.
    progress, trust, executor: as of ``gslopes.audit``; croppers may be programs, too.
    options: as of ``gslopes crops --help-all``, with underscores; ``people``, a CSV of groups, is needed.

    Raises: UsageError, ConfigError, ModelError, AnswerError, RunFolderMismatch, StorageError; all that can be known
        beforehand before any work. Of services CredentialsError, ServiceError, ClassifierError, BudgetReached: what
        they answered is kept.
    """

def census(
    photos: str | Path,
    out: str | Path,
    *,
    progress: bool = False,
    **options: Unpack[_CensusOptions],
) -> DataFrame:
    """How the faces in a folder of photos are read, by occupation (the sub-folder, or the collection's manifest).

    out: the census folder.  options: as of ``gslopes census --help``.

    Returns one row an occupation: n, answered, female, female_low, female_high, male, male_low, male_high,
    other_answers, women (share of women among people employed; US Bureau of Labor Statistics).

    Raises: UsageError, ModelError, StorageError.
    """

def collect_photos(
    out: str | Path, *, progress: bool = False, **options: Unpack[_CollectOptions]
) -> DataFrame:
    """Photos of people at work from a provider, with licence, creator and page of each.

    out: the folder, made if missing.  progress: show lines of progress on stderr.
    options: as of ``gslopes collect --help``, with underscores; ``source`` is openverse by default.

    Returns the manifest, one row a result.

    Raises: UsageError, StorageError, ServiceError.
    """

def export(
    run: str | Path,
    form: Form,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    **options: Unpack[_ExportOptions],
) -> Exported:
    """Export the counterfactual photos of a run folder, or its answers. Called again, it adds the missing files.

    form: ``imagefolder`` (files and ``metadata.jsonl``), ``parquet`` (pictures within, as ``datasets`` reads it),
        ``webdataset`` (tar files; a set is never divided between two), ``answers`` (one row a picture and label).
    out: the folder, ``RUN/export/FORM`` by default; of answers the file, ``.csv`` or ``.parquet``, ``RUN/answers.csv``
        by default. In a CSV, text that a spreadsheet would run has an apostrophe in front.
    progress: show a bar on stderr.
    options: fields of ``export.pictures.ExportConfig``.

    Every form of pictures has a card (``README.md``) and, with the extra ``croissant``, a Croissant file
    (``croissant.json``); the XMP of every edited picture declares the edit. Columns: ``export.pictures``.

    Raises: UnknownName for another form; ConfigError; UsageError if there is nothing to export, pictures or photos are
        gone, or the folder holds something else; RunFolderMismatch if it holds another export; TableError,
        StorageError.
    """

def fit_slopes(
    scores: DataFrame,
    asked: DataFrame | None = None,
    *,
    values: Values | None = None,
    photos: Collection[str] | None = None,
    about: DataFrame | None = None,
    cluster: str = "",
    options: FitOptions | Mapping[str, Any] | None = None,
    **columns: Unpack[_ColumnsOptions],
) -> DataFrame:
    """The slope of every label along the edited attribute, by all estimators, with intervals, tests and q.

    Read ``photo-rate``: the mean over photos of each photo's own slope, in percentage points per unit; the rows of
    ``paper`` are as Joo & Kärkkäinen (2020) have them.  Estimators, null hypotheses and intervals:
    ``slopes.measures.estimators`` and ``stats.permutation``.  All other tables (groups, placebos):
    ``slopes.measures.analysis.analyse``.

    scores: a row for each label returned for a picture; a row without a label (None) shows that it was asked about.
        Other columns are ignored.
    columns: photo, value, label, score, classifier, attribute: the names of these columns, if they are other ones.
        value is the attribute's in that picture, a number, or ``step`` (0 to K-1) in its place.  score is in [0, 1], 1
        without such a column (None: leave it out).  Without a column for them there is one classifier,
        ``"classifier"``, and one attribute, ``"attribute"``.
    asked: a row for each picture asked about, its columns named alike, and if they are known status (answered,
        refused or failed) and reason; without classifier or attribute it holds for all of them.  If it is None, every
        photo counts as answered at every value.
    values: attribute to its K values, K odd, or 2: the slope is then a difference, and the paper's p is
        empty.  The centre is ``core.records.centre_of`` them.  Without it they are read from the tables.
    photos: ids of the photos that count.  Without ``asked`` name them all: a photo that has no row in scores would be
        missing from every share.  None: all photos of asked, or of scores.
    about, cluster: see ``slopes.measures.options.Study``.
    options: estimators, permutations, min_varying, seed; a mapping or a ``slopes.measures.options.FitOptions``.

    Returns a data frame with the columns of core.tables.SLOPES, sorted by classifier, attribute, estimator and label.

    Raises: UsageError for a column that is missing; TableError for scores beyond [0, 1], an unknown status, or values
        that contradict one another; ConfigError as ``analyse``, and for any other keyword.

    >>> rows = [("a", 0, "Chef"), ("a", 1, "Chef"), ("b", 1, "Chef"), ("b", 1, "Face"), ("c", -1, None)]
    >>> slopes = fit_slopes(DataFrame(rows, columns=["image", "value", "tag"]), photo="image", label="tag")
    >>> rate = slopes[slopes["estimator"] == "photo-rate"]
    >>> rate[["label", "n", "active", "y_centre", "slope"]].round(2).values.tolist()
    [['Chef', 3, 2, 0.33, 33.33], ['Face', 3, 1, 0.0, 16.67]]
    """

def score_photos(
    run: str | Path,
    classifier: Given | Sequence[Given] | None = None,
    *,
    device: str = "auto",
    gate: bool = True,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    **limits: Unpack[_ScoreOptions],
) -> Walked:
    """Ask classifiers, concurrently, about every picture of a run folder; see ``tables["scores"]`` of the result.

    classifier, trust: as of ``audit``.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    limits: fields of ``ask.config.ScoreConfig``, such as ``budget``; ``config`` is a TOML file with more.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """

def synthesise(
    photos: Any,
    out: str | Path | None = None,
    *,
    editor: Any = None,
    progress: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Unpack[_RunOptions],
) -> Walked:
    """Make the counterfactual photos of a folder and the tables ``photos`` and ``edits``; no classifier is asked.

    Arguments, result and errors as ``audit``.
    """

__version__: str
