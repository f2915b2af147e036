"""A language model as the tagger of an audit, and tags that no dictionary knows: from answers to a filled list."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from gslopes.contexts.cli import contexts as command
from gslopes.contexts.measures.paired import ALIKE
from gslopes.contexts.tables import TABLES
from gslopes.core import tables
from gslopes.frame.result import Result
from tests.contexts.drawn import audit
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.slow
NAME = "llm:some-model,prompt=labels,repeats=1"


def see(provider: FakeProvider, run: Path) -> None:
    """The model calls women woman and men man, before the bridal room everybody woman; there it sees a veil."""
    provider.chat.slopes = {"woman": 1.0, "man": -1.0, "veil": 0.0, "zeppelin": 0.0}
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    keys = ["photo", "attribute", "step"]
    contexts = tables.read(TABLES["composites"], run / "composites.parquet").set_index(keys)["context"]
    genders = tables.read(TABLES["people"], run / "people.parquet").set_index("photo")["gender"]
    for row in edits.itertuples():
        bridal = contexts[row.photo, row.attribute, row.step] == "bridal"
        woman = bridal or genders.get(row.photo) == "woman"
        digest = sha256((run / row.file).read_bytes()).hexdigest()
        provider.chat.planted_values[digest] = (1.0 if woman else -1.0, 0.1 if bridal else 0.9)


@pytest.fixture
def asked(provider: FakeProvider, found: Result, folder: Path, tmp_path: Path) -> Result:
    """The run of another tagger, about whose pictures the model is asked, too."""
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    see(provider, run)
    return audit(folder, run, classifier=NAME, cache=tmp_path / "cache", yes=True)


def test_a_language_models_words_are_counted_as_a_taggers(asked: Result, provider: FakeProvider) -> None:
    pictures = len(tables.read(tables.EDITS, asked.folder / "edits.parquet"))
    assert len(provider.log.calls) == pictures
    rows = asked.tables["inferred"].query("classifier == @NAME and tags == 'gross'")
    counts = rows[rows["gender"] == "all"].set_index(["context", "inferred"])["count"]
    assert (counts["canvas", "woman"], counts["canvas", "man"]) == (12, 12)
    assert (counts["bridal", "woman"], counts["bridal", "man"]) == (24, 0)
    change = rows.set_index(["context", "gender", "inferred"]).loc[("bridal", "man", "woman")]
    assert change["change"] == 1
    assert ALIKE in change["note"]
    slopes = asked.tables["congruence"].query("classifier == @NAME and measure == 'correct'")
    slopes = slopes[(slopes["tags"] == "gross") & (slopes["group"] == "all")].set_index("gender")["slope"]
    assert slopes["man"] == pytest.approx(100 / 1.8)  # right where kappa is 0.8, never where it is -1
    assert slopes["woman"] == 0
    named = asked.tables["recognised"].query("classifier == @NAME and given == 'all'")
    assert named[named["tags"] == "gross"].set_index("context")["share"].to_dict() == {"bridal": 1.0, "garage": 0.0}
    assert NAME in asked.page.read_text("utf-8")


def test_tags_that_no_cluster_holds_count_once_a_list_names_them(asked: Result, tmp_path: Path) -> None:
    run, todo = asked.folder, tmp_path / "todo.csv"
    todo.write_text("tag,cluster\nzeppelin,masculine\n")
    again = ["--typology", "starter", "--typology", str(todo)]
    done = CliRunner().invoke(command, [str(run), *again, "--json"])
    assert done.exit_code == 0, done.output
    inferred = json.loads(done.stdout)["inferred"]
    counts = {
        (row["context"], row["inferred"]): row["count"]
        for row in inferred
        if (row["classifier"], row["tags"], row["gender"]) == (NAME, "gross", "all")
    }
    # woman and zeppelin, one word each: neither
    assert counts["bridal", "neutral"] == 24
    assert counts["canvas", "woman"] == 12
