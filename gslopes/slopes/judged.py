"""Free texts that another model marks: what it is asked, people's marks next to its own, and when these are shown.

The judge is asked about each distinct text once, as about a picture (``prompt.about``), and told neither photo nor
value. Its marks are numbers of the model that wrote the texts, a mean over a picture's texts; slopes follow as of
any number. They are left out until people have marked ``LEAST`` texts of a random sample themselves, on review.html.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.classifiers import load_classifiers
from gslopes.ask.names import UNITS, split
from gslopes.ask.questions import digest, read_picture
from gslopes.core import ConfigError, Row, Texts, hexdigest, read_text, runfolder, tables, traits_of
from gslopes.frame.ask import Most
from gslopes.frame.spec import Made, Run, Tables
from gslopes.report import inline, review as pages

FOLDER = "judged"
MARKED = "marked"  # the folder of what the judge gave, as answers of who wrote the texts
TEXTS = f"{FOLDER}/edits"  # a table like edits, and the folder of its texts
LEAST = 20  # texts that people marked
SAMPLE = 100
KEYS = ("1234567", "qwertyu")  # of the marks of a scale, the lowest first
TEMPLATES = Path(__file__).parent / "templates"
LEVELS = f"({UNITS[1]})"  # ends the label of a mark
KEY = ["photo", "attribute", "step"]


def judges(run: Run) -> dict[str, Any]:
    """Those who mark texts.  Raises: as ``load_classifiers``; ConfigError as ``check_about``."""
    models = load_classifiers(run.config.score.judges, run.config.device, trust=False)
    check_about(models, "text")
    return {model.name: model for model in models}


def check_about(models: Iterable[Any], about: str) -> None:
    """Raises: ConfigError for a model that would be asked about what its task is not about: a text, a picture."""
    for model in models:
        if getattr(getattr(model, "prompt", None), "about", "picture") != about:
            raise ConfigError(
                f"{model.name} is not asked about a {about}.",
                'A judge is asked by --judge, about a text: its task has about = "text".',
            )


def writers(run: Run) -> list[Any]:
    """The language models that are asked for a free text."""
    models = run.models.values()
    return [model for model in models if getattr(getattr(model, "prompt", None), "lists", None)]


def texts_at_most(run: Run, asked: Callable[[Run, Any], Most]) -> int:
    """How many there may be.  asked: how many pictures a model is asked about at most."""
    return sum(
        sum(asked(run, model)[0]) * traits_of(model).limits.requests_per_picture
        for model in writers(run)
    )


def write_texts(run: Run, part: Tables) -> Made:
    """A file for each text about the pictures of a part; the column photo tells its number and whose it is as well."""
    rows: list[Row] = []
    runfolder.make_folder(run.folder / TEXTS)
    with AnswerCache(writable_cache(run.config.score.cache)) as cache:
        caches = [ClassifierCache(model, cache) for model in writers(run)]
        for row in tables.records(part["edits"]):
            key = digest(read_picture(run.folder, row["file"]))
            for number, (name, text) in enumerate(_texts(caches, key)):
                file = f"{TEXTS}/{hexdigest(text)}.txt"
                runfolder.write_changed(run.folder / file, text.encode())
                photo = f"{row['photo']} {number} {name}"
                rows.append({**row, "photo": photo, "file": file})
    run.tick(len(part["edits"]))
    return {TEXTS: rows}


def _texts(caches: Sequence[Any], key: bytes) -> list[tuple[str, str]]:
    """(whose it is, the text) of each about a picture, by its digest."""
    from gslopes.ask.classifiers import chat

    return [
        (cache.classifier.name, text)
        for cache in caches
        for answer in cache.raw([key]).values()
        for text in chat.texts(cache.classifier.prompt, answer.raw)
    ]


def _marked(given: DataFrame) -> Made:
    """The tables of who wrote the texts.  given: the judge's marks, in the columns of core.tables.SCORES."""
    named = given["photo"].str.split(" ", n=2)
    judge = given["classifier"].map(lambda name: split(name)[1][0])
    rows = given.assign(photo=named.str[0], classifier=named.str[2] + ",judge=" + judge)
    scores = rows.groupby(tables.SCORES.columns[:-1])["score"].mean().reset_index()
    asked = scores.drop_duplicates([*tables.ASKED.key]).assign(
        status="answered", reason="", detail=""
    )
    return {f"{MARKED}/scores": scores, f"{MARKED}/asked": asked[tables.ASKED.columns]}


def agree(run: Run) -> Made:
    """The page on which people mark texts, and how far their marks agree with the judge's.  Raises: DataMissing."""
    scales = {model.prompt.name: model.prompt.options for model in run.once(judges).values()}
    columns = ["text", *scales, "reviewer", "note"]
    file = run.folder / "review.csv"
    answers = pages.read_answers(file, columns, ("text", "reviewer"), scales, required=False)
    texts = run.table(TEXTS)
    files = sorted(set(texts["file"]))[:SAMPLE]  # named by their digests: in a random order
    _write_page(run.folder, files, scales, answers, columns)
    marks = run.table(f"{FOLDER}/scores")
    marks = marks[marks["label"].str.endswith(LEVELS)]  # not how often it gave each
    both = marks.merge(texts[[*KEY, "file"]], on=KEY)
    people = DataFrame(answers, columns=columns)
    rows = [_agreement(name, options, people, both) for name, options in scales.items()]
    facts = {"rows": rows, "least": LEAST, "texts": len(files)}
    run.note(inline.plain("judged.txt.j2", TEMPLATES, **facts))
    shown = marks if all(row["n"] >= LEAST for row in rows) else marks[:0]
    return {"agreement": rows, **_marked(shown)}


def _agreement(scale: str, options: Sequence[str], people: DataFrame, judged: DataFrame) -> Row:
    """A row of core.tables.AGREEMENT: of each text the mean mark of people, and of the judge."""
    from gslopes.stats.agreement import rank_correlation
    from gslopes.stats.intervals import mean_t

    place = people[scale].map({option: place for place, option in enumerate(options, 1)})
    own = judged[judged["label"] == f"{scale} {LEVELS}"].groupby("file")["score"].mean()
    file = f"{TEXTS}/" + people["text"] + ".txt"
    both = pd.concat([place.groupby(file).mean(), own], axis=1).dropna()
    row: Row = {"scale": scale, "n": len(both)}
    if len(both) < LEAST:
        return row
    by_people, by_judge = both.to_numpy(float).T
    rank = rank_correlation(by_people, by_judge)
    apart = mean_t(by_judge - by_people)
    row |= {"rho": rank.rho, "rho_low": rank.rho_low, "rho_high": rank.rho_high}
    return row | {"difference": apart.value, "ci_low": apart.low, "ci_high": apart.high}


def _write_page(
    run: Path,
    files: Sequence[str],
    scales: Mapping[str, Sequence[str]],
    answers: Sequence[Texts],
    columns: Sequence[str],
) -> None:
    """Write review.html; the judge's marks are not on it."""
    questions = []
    for keys, (name, options) in zip(KEYS, scales.items(), strict=False):
        buttons = {
            key: (f"{name} {mark}", {name: mark}) for key, mark in zip(keys, options, strict=False)
        }
        questions.append(pages.Question(name, buttons, ()))
    html = pages.render_review(
        "judged-review.html.j2",
        TEMPLATES,
        questions,
        [{"text": Path(file).stem, "said": read_text(run / file)} for file in files],
        answers,
        columns,
        copied=("text",),
        id=("text", "reviewer"),
        done=(dict.fromkeys(scales, "*"),),
        values=dict(scales),
        reviewer="reviewer",
        untold=("note",),
        noun="Text",
    )
    runfolder.write_bytes(run / "review.html", html.encode())
