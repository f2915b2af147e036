"""The frame on an audit of a few lines: stages left out, parts for each model, rows kept out, folders of pictures."""

import pickle
import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.options import option
from gslopes.core.tables import read_tables
from gslopes.frame.executors import OneProcess
from gslopes.frame.parts import Parts
from gslopes.frame.plan import plan
from gslopes.frame.result import Result, load
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Headline, Inputs, Made, Plan, Run, Section, Stage, Tables

TABLES = """
[words]
key = "word"
columns = '''
word    text   a word of the file
length  int64  letters'''

[answers]
key = "model word"
columns = '''
model  text     who answered
word   text     about what
value  float64  share'''

[doubled]
key = "word"
columns = '''
word  text  a word, twice'''
"""
SENTENCES = """
question = "How long are words?"
source = "FILE"
about = "Words."
examples = []
links = []
limits = ["Words are no photos."]
next = []
[quote]
title = "Words"
things = ["word", "words"]
compared = "nothing"
source = "nobody"
[published]
text = "None."
head = []
rows = []
"""
ASKED: list[tuple[str, str]] = []


@dataclass(frozen=True)
class Config:
    """The options of the tiny audit."""

    double: bool = option(True, help="Write words twice.")
    names: tuple[str, ...] = option(("a",), help="Models.", name="name")
    longest: int = option(99, help="Leave longer words out of the answers.")


def look(plan: Plan) -> Inputs:
    text = plan.source.read_text()
    return Inputs(text.split(), {"letters": len(text)}, notes=("Read once.",))


def read(run: Run) -> Made:
    run.note(f"{len(run.inputs)} words.")
    for word in run.inputs:
        runfolder.write_bytes(run.folder / "pictures" / f"{word}.txt", word.encode())
    return {"words": [{"word": word, "length": len(word)} for word in run.inputs]}


def all_words(run: Run) -> list[str]:
    return run.table("words")["word"].tolist()


def names(run: Run) -> tuple[str, ...]:
    return run.config.names


def ask(run: Run, words: list[str], name: str) -> Made:
    ASKED.extend((name, word) for word in words)
    run.tick(len(words))
    return {"answers": [{"model": name, "word": word, "value": 1 / len(word)} for word in words]}


def short(run: Run, made: Tables) -> Made:
    rows = made["answers"]
    return {"answers": rows[rows["word"].str.len() <= run.config.longest]}


def double(run: Run) -> Made:
    return {"doubled": [{"word": 2 * word} for word in all_words(run)]}


def doubles(run: Run) -> bool:
    return bool(run.config.double)


def judged(tables: Any) -> pd.DataFrame:
    rows = tables["answers"]
    facts = {
        "model": rows["model"],
        "contrast": "length",
        "label": rows["word"],
        "n": 10,
        "value": rows["value"],
    }
    return pd.DataFrame(
        {**facts, "ci_low": 0.1, "ci_high": 2.0, "unit": "share", "q": 0.01, "reason": ""}
    )


def headline(tables: Any) -> Headline:
    return Headline(f"{len(tables['answers'])} answers.")


def counts(tables: Any) -> tuple[int, int, int]:
    return len(tables["words"]), len(tables["words"]), 0


def terminal(tables: Any) -> str:
    return str(len(tables["answers"]))


def lede(page: Any) -> dict[str, Any]:
    return {"doubled": "doubled" in page.tables}


@pytest.fixture
def tiny(tmp_path: Path) -> Audit:
    home = tmp_path / "home"
    home.mkdir()
    (home / "tables.toml").write_text(TABLES)
    (home / "sentences.toml").write_text(SENTENCES)
    (home / "method.toml").write_text('paper = "none"\nchoice = []\n')
    (home / "sections.css").write_text("")
    (home / "sections.html.j2").write_text(
        "{% macro lede(doubled) %}<p>Doubled: {{ doubled }}.</p>{% endmacro %}"
    )
    stages = (
        Stage("read", ("inputs",), ("pictures/", "words"), read, options=()),
        Stage(
            "ask", ("words",), ("answers",), ask,
            items=all_words, part=2, each=names, join=short, options=("longest",), merging=("longest",),
        ),
        Stage("double", ("words",), ("doubled",), double, when=doubles, options=("double",)),
    )  # fmt: skip
    audit = Audit(
        name="tiny", home=home, config=Config,
        tables=read_tables(home / "tables.toml"), inputs=look, outline=lambda planned: ([], {}),
        stages=stages, judged=judged, headline=headline, counts=counts, terminal=terminal, shown=("answers",),
        page=(Section("lede", "", lede),),
    )  # fmt: skip
    ASKED.clear()
    (tmp_path / "words.txt").write_text("of four words each")
    return audit


class Noted(OneProcess):
    """Keeps what is noted."""

    __slots__ = ("notes",)

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "notes", [])

    def note(self, text: str) -> None:
        self.notes.append(text)


def done(
    audit: Audit, tmp_path: Path, source: str = "words.txt", **options: Any
) -> tuple[Result, list[str]]:
    """The result, and the stages that were up to date."""
    noted = Noted()
    result = carry_out(plan(audit, tmp_path / source, tmp_path / "run", options), noted)
    return result, [note.split()[0] for note in noted.notes]


def test_the_tables_the_page_and_the_notes_follow_from_the_declaration(tiny: Audit, tmp_path: Path):
    result, fresh = done(tiny, tmp_path)
    assert fresh == []
    assert result.tables["answers"].to_dict("list")["word"] == ["each", "four", "of", "words"]
    assert (result.summary, str(result), result.found, result.damaged) == ("4 answers.", "4", 4, 0)
    assert result.notes == ("Read once.", "4 words.")
    page = result.page.read_text()
    assert "How long are words?" in page
    assert "Doubled: True." in page
    assert "Words are no photos." in page
    assert set(result.findings["decision"]) == {"finding"}
    assert done(tiny, tmp_path)[1] == ["read", "ask", "double", "report"]


def test_each_name_has_parts_of_its_own_and_those_of_earlier_runs_stay(tiny: Audit, tmp_path: Path):
    done(tiny, tmp_path)
    assert len(ASKED) == 4
    result, fresh = done(tiny, tmp_path, name="b")
    assert fresh == ["read", "double"]
    assert [name for name, _ in ASKED[4:]] == ["b"] * 4
    assert sorted(set(result.tables["answers"]["model"])) == ["a", "b"]


def test_rows_are_kept_out_of_the_merged_table_and_stay_in_the_parts(tiny: Audit, tmp_path: Path):
    result, _ = done(tiny, tmp_path, longest=4)
    assert sorted(result.tables["answers"]["word"]) == ["each", "four", "of"]
    parts = sorted((tmp_path / "run/parts/ask").rglob("answers-*.parquet"))
    assert sum(len(pd.read_parquet(part)) for part in parts) == 4
    assert len(ASKED) == 4
    assert len(done(tiny, tmp_path)[0].tables["answers"]) == len(ASKED) == 4


def test_a_stage_that_is_left_out_leaves_no_table_and_comes_back(tiny: Audit, tmp_path: Path):
    done(tiny, tmp_path)
    result, fresh = done(tiny, tmp_path, double=False)
    assert fresh == ["read", "ask"]
    assert "doubled" not in result.tables
    assert "Doubled: False." in result.page.read_text()
    assert "doubled" in done(tiny, tmp_path)[0].tables


def test_a_folder_of_pictures_is_known_by_its_files(tiny: Audit, tmp_path: Path):
    done(tiny, tmp_path)
    (tmp_path / "run/pictures/of.txt").unlink()
    assert "read" not in done(tiny, tmp_path)[1]
    assert (tmp_path / "run/pictures/of.txt").is_file()


def test_what_comes_before_work_is_done_once_and_only_if_there_is_work(tiny: Audit, tmp_path: Path):
    begun: list[str] = []
    audit = replace(tiny, before=lambda run, executor: begun.append(run.folder.name))
    done(audit, tmp_path)
    done(audit, tmp_path)
    assert begun == ["run"]


def test_a_part_can_be_done_in_another_process(tiny: Audit, tmp_path: Path):
    audit = replace(tiny, page=(), outline=headline)  # what travels can be pickled
    done(audit, tmp_path)
    part = next((tmp_path / "run/parts/ask").rglob("answers-000000.parquet"))
    before = pd.read_parquet(part)
    part.unlink()
    task = Parts(Run(audit, tmp_path / "run", Config()), audit.stages[1], "a").remote_task()
    pickle.loads(pickle.dumps(task.make))("cpu")(0, lambda count: None)
    pd.testing.assert_frame_equal(before, pd.read_parquet(part))


def test_the_smallest_audit_of_the_page_for_contributors_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    page = Path(__file__).parents[2] / "docs/pages/contribute/audit.md"
    blocks = re.findall(
        r'```\w+ title="([^"]+)"\n(.*?)```', page.read_text("utf-8"), flags=re.DOTALL
    )
    home = tmp_path / "lengths"
    home.mkdir()
    for name, content in (
        *blocks,
        ("sections.css", ""),
        ("method.toml", 'paper = ""\nchoice = []\n'),
    ):
        (home / name).write_text(content, "utf-8")
    rows = [
        f"{place},{'ab'[place % 2]},a man{' and a dog' * (place % 2)} {'sits ' * (place % 3)}"
        for place in range(40)
    ]
    (tmp_path / "captions.csv").write_text("\n".join(["photo,group,caption", *rows]))
    monkeypatch.syspath_prepend(str(tmp_path))
    audit = import_module("lengths.audit").LENGTHS
    result, _ = done(audit, tmp_path, source="captions.csv")
    assert result.summary == "Captions of a over b differ by -3.0 words."
    assert result.findings["decision"].tolist() == ["finding"]
    assert "a over b: −3.0 words." in result.page.read_text("utf-8")
    assert done(audit, tmp_path, source="captions.csv")[1] == [
        "ask",
        "outcomes",
        "contrasts",
        "report",
    ]
    assert done(audit, tmp_path, source="captions.csv", least=30)[0].findings[
        "decision"
    ].tolist() == ["unjudged"]


def noting(run: Run, words: list[str], name: str) -> Made:
    run.note(f"Read {' and '.join(words)}.")
    return ask(run, words, name)


def part_of(tmp_path: Path, index: int) -> Path:
    return next((tmp_path / "run/parts/ask").rglob(f"answers-{index:06d}.parquet"))


def test_a_part_that_is_done_again_leaves_the_notes_of_the_others(tiny: Audit, tmp_path: Path):
    audit = replace(tiny, stages=(tiny.stages[0], replace(tiny.stages[1], work=noting)))
    said = ("Read once.", "4 words.", "Read each and four.", "Read of and words.")
    assert done(audit, tmp_path)[0].notes == said
    part_of(tmp_path, 1).unlink()
    (tmp_path / "run/parts/ask.json").unlink()
    again, _ = done(audit, tmp_path)
    assert len(ASKED) == 6
    assert again.notes == said
    (tmp_path / "run/answers.parquet").unlink()  # no part is done at all
    assert done(audit, tmp_path)[0].notes == said
    (part_of(tmp_path, 0).parent / "notes-000000.json").write_text("[")
    (tmp_path / "run/parts/ask.json").unlink()
    assert done(audit, tmp_path)[0].notes == said
    assert len(ASKED) == 8


def test_a_note_made_in_another_process_arrives(tiny: Audit, tmp_path: Path):
    audit = replace(
        tiny,
        page=(),
        outline=headline,
        stages=(tiny.stages[0], replace(tiny.stages[1], work=noting)),
    )
    done(audit, tmp_path)
    part = part_of(tmp_path, 0)
    part.unlink()
    (part.parent / "notes-000000.json").unlink()
    (tmp_path / "run/parts/ask.json").unlink()
    task = Parts(Run(audit, tmp_path / "run", Config()), audit.stages[1], "a").remote_task()
    pickle.loads(pickle.dumps(task.make))("cpu")(0, lambda count: None)
    assert done(audit, tmp_path)[0].notes[-2:] == ("Read each and four.", "Read of and words.")


@pytest.mark.parametrize(
    ("content", "said"),
    [('{"kind": "census"}', "census"), (None, r"no run\.json"), ("{}", "older gslopes")],
)
def test_what_is_no_finished_run_of_an_audit_is_refused(
    tmp_path: Path, content: str | None, said: str
):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError, match=said) as refused:
        load(tmp_path)
    assert refused.value.hint
