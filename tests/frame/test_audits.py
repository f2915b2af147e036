"""What every audit on the frame promises: nothing is done twice, whatever stopped it, and its folder opens again."""

import base64
import io
import itertools
import json
import re
import shutil
import signal
from html import unescape
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from PIL import Image

import gslopes
from gslopes.core.errors import GslopesError, RunFolderMismatch, UsageError
from gslopes.core.killpoints import KILL_POINTS
from gslopes.core.options import options_of
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import plan
from gslopes.frame.result import find_audit
from gslopes.frame.run import carry_out, stages_of
from gslopes.frame.verb import verb
from tests.core.test_killpoints import in_a_child
from tests.fixtures import save_empty
from tests.frame.audits import AUDITS, Small, in_small_parts

POINTS = [point for point in KILL_POINTS if point.startswith(("file:", "table:"))]


@pytest.fixture(params=AUDITS, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def small(name: str) -> Small:
    return AUDITS[name]


@pytest.fixture(scope="module")
def source(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.prepare(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module", autouse=True)
def parts(name: str, small: Small) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save_empty)  # drawing takes most of the time
        in_small_parts(patch, name, small.part)
        yield


@pytest.fixture(scope="module")
def finished(small: Small, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("finished") / "run"
    small.begin(source, run)
    return run


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


class Noted(OneProcess):
    """Keeps what is noted, and the stages whose parts are done."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "notes", [])

    __slots__ = ("notes",)

    def note(self, text: str) -> None:
        self.notes.append(text)


def up_to_date(small: Small, source: Path, run: Path, **more: Any) -> list[str]:
    """The stages that were not done again."""
    noted = Noted()
    small.begin(source, run, executor=noted, **more)
    return [note.split()[0] for note in noted.notes if note.endswith("up to date")]


def stages_done(name: str, run: Path) -> list[str]:
    """Those that the options do not leave out."""
    names = [stage.name for stage in stages_of(find_audit(name))]
    return [one for one in names if (run / "parts" / f"{one}.json").is_file()]


def command_of(name: str) -> click.Command:
    return verb(find_audit(name))


_MOMENT = re.compile(rb"\d\d:\d\d UTC")  # of the page: when the run was begun


def files(run: Path) -> dict[str, bytes]:
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file()
    }


def test_the_same_command_again_does_nothing(name: str, small: Small, source: Path, run: Path):
    before = files(run)
    assert up_to_date(small, source, run) == stages_done(name, run)
    assert files(run) == before


def test_an_option_makes_stale_what_depends_on_it_and_no_stage_before(
    name: str, small: Small, source: Path, run: Path
):
    option, stale = small.change
    names = stages_done(name, run)
    fresh = up_to_date(small, source, run, **option)
    assert fresh[: names.index(stale)] == names[: names.index(stale)]
    assert stale not in fresh
    assert up_to_date(small, source, run, **option) == names


@pytest.mark.parametrize("damage", ["remove", "truncate"])
def test_a_table_that_was_removed_or_damaged_is_made_again(
    name: str, small: Small, source: Path, run: Path, damage: str
):
    for stage in find_audit(name).stages:
        made = [run / f"{one}.parquet" for one in stage.makes if (run / f"{one}.parquet").is_file()]
        if not made:
            continue
        table = made[0]
        content = table.read_bytes()
        table.unlink() if damage == "remove" else table.write_bytes(content[:-9])
        assert stage.name not in up_to_date(small, source, run)
        assert table.read_bytes() == content


def test_a_damaged_part_is_made_again(small: Small, source: Path, run: Path):
    before = files(run)
    part = sorted((run / "parts" / small.expensive).rglob("*.parquet"))[1]
    part.write_bytes(b"no table")
    (run / "parts" / f"{small.expensive}.json").unlink()
    assert small.expensive not in up_to_date(small, source, run)
    assert files(run) == before


def test_parts_made_from_other_tables_are_not_used(small: Small, source: Path, run: Path):
    folder = run / "parts" / small.expensive
    if not (folder / "made-from.json").is_file():
        pytest.skip("its parts are made from the inputs alone")
    made_from = json.loads((folder / "made-from.json").read_text())
    made_from["tables"] = dict.fromkeys(made_from["tables"] or ["none"], "0" * 64)
    (folder / "made-from.json").write_text(json.dumps(made_from))
    (run / "parts" / f"{small.expensive}.json").unlink()
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    small.begin(source, run)
    assert all(path.stat().st_mtime_ns != time for path, time in times.items())


@pytest.mark.slow
def test_killed_anywhere_the_folder_ends_as_an_undisturbed_one(
    small: Small, source: Path, finished: Path, tmp_path: Path
):
    run = tmp_path / "run"
    places = [f"{point}:{time}" for time in (1, 2, 4, 7, 11) for point in POINTS]
    codes = []
    for place in places:
        codes.append(in_a_child(lambda: small.begin(source, run), place))
        if codes[-1] == 0:  # finished before that moment: the next kill meets a new folder
            shutil.rmtree(run)
    assert len(places) >= 20
    assert set(codes) <= {-signal.SIGKILL, 0}
    assert codes.count(-signal.SIGKILL) >= 10
    assert in_a_child(lambda: small.begin(source, run)) == 0
    created = json.loads((run / "run.json").read_text())["created"]
    there, here = (
        {name: _MOMENT.sub(b"", content) for name, content in files(one).items()}
        for one in (finished, run)
    )
    assert sorted(there) == sorted(here)
    stamped = {name for name in there if name.startswith("parts/") and name.endswith(".json")} | {
        "run.json"
    }
    assert created[:10] == json.loads((finished / "run.json").read_text())["created"][:10]
    assert [name for name in there if there[name] != here[name] and name not in stamped] == []


@pytest.mark.slow
def test_what_was_done_before_a_kill_is_not_done_again(small: Small, source: Path, tmp_path: Path):
    run = tmp_path / "run"
    assert in_a_child(lambda: small.begin(source, run), "table:placed:9") == -signal.SIGKILL
    made = {
        path: path.stat().st_mtime_ns
        for path in (run / "parts" / small.expensive).rglob("*.parquet")
    }
    assert len(made) >= 5
    assert in_a_child(lambda: small.begin(source, run)) == 0
    assert {path: path.stat().st_mtime_ns for path in made} == made


def test_stopped_by_ctrl_c_it_goes_on(small: Small, source: Path, finished: Path, tmp_path: Path):
    class Stopping(OneProcess):
        def __call__(self, work: Any, parts: Any, **about: Any) -> None:
            first, *_ = parts
            super().__call__(work, {first: parts[first]}, **about)
            raise KeyboardInterrupt

    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        small.begin(source, run, executor=Stopping())
    made = {
        path: path.stat().st_mtime_ns
        for path in (run / "parts" / small.expensive).rglob("*.parquet")
    }
    assert made
    small.begin(source, run)
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert {one for one in files(run) if "parts" not in one} == {
        one for one in files(finished) if "parts" not in one
    }


def test_a_folder_opens_again_as_the_result(name: str, small: Small, finished: Path):
    result = gslopes.load(finished)
    assert (result.folder, json.loads((finished / "run.json").read_text())["kind"]) == (
        finished,
        name,
    )
    assert result.summary
    assert small.told(result.summary) in unescape(result.page.read_text("utf-8"))
    assert json.loads((finished / "summary.json").read_text())["headline"] == result.summary
    assert list(result.findings.columns)
    assert str(result)


def test_a_notebook_shows_what_is_judged_and_the_first_pictures_of_the_page(
    name: str, finished: Path
):
    result = gslopes.load(finished)
    html = result._repr_html_()
    assert len(html.encode()) < 200_000
    assert not re.search(r"<(script|style|link|iframe|svg)|\son\w+=", html)
    heading = re.search("<strong>(.+?)[.]</strong>", html)[1]
    assert result.summary.startswith(unescape(heading))
    assert str(result) in unescape(html)
    assert f'<a href="{result.page.as_uri()}"' in html
    judged = (result.findings["decision"] != "unjudged").sum()
    assert len(re.findall("<tr><td", html)) == min(judged, 12)
    pictures = re.findall('<img src="data:image/jpeg;base64,(.+?)"', html)
    assert html.count("<img") == len(pictures)
    for data in pictures:
        image = Image.open(io.BytesIO(base64.b64decode(data)))
        assert image.width >= image.height / 2
    assert bool(pictures) == (name != "captions")


def test_a_folder_that_is_not_finished_is_refused(run: Path, name: str):
    for table in find_audit(name).tables:
        (run / f"{table}.parquet").unlink(missing_ok=True)
    with pytest.raises(UsageError, match="not finished"):
        gslopes.load(run)


def test_another_source_in_the_same_folder_is_refused(small: Small, run: Path, tmp_path: Path):
    other = small.prepare(tmp_path / "other")
    small.change_source(other)
    with pytest.raises(RunFolderMismatch):
        small.begin(other, run)


@pytest.mark.parametrize("name", ["contexts", "crops"], indirect=True)
def test_other_people_given_to_a_run_are_another_run(
    small: Small, source: Path, run: Path, tmp_path: Path
):
    about = pd.read_csv(source.parent / "people.csv", dtype=str)
    about.assign(**{about.columns[1]: about.iloc[::-1, 1].to_numpy()}).to_csv(
        tmp_path / "swapped.csv", index=False
    )
    about.to_csv(tmp_path / "same.csv", index=False)
    before = files(run)
    with pytest.raises(RunFolderMismatch, match="digest"):
        small.begin(run, run, people=tmp_path / "swapped.csv")
    assert files(run) == before
    small.begin(run, run, people=tmp_path / "same.csv")


def test_an_option_is_read_by_a_stage_or_by_the_inputs_or_is_about_asking(name: str, run: Path):
    audit = find_audit(name)
    read = {one for stage in stages_of(audit) for one in stage.options or ()} | {*audit.looked_at}
    read |= set(json.loads((run / "run.json").read_text()).get("identity", ()))
    asking = {
        "score",
        "cost_limits",
        "classifiers",
        "cropper",
        "device",
        "engine",
        "workers",
        "preset",
        "photos",
    }
    asking |= {"cross", "grid"}  # known by the values of the sweeps
    paths = [".".join(option.path) for option in options_of(audit.config).values()]
    assert [path for path in paths if not {path, path.partition(".")[0]} & (read | asking)] == []


def test_a_run_of_an_older_version_is_refused_with_a_sentence(
    small: Small, source: Path, run: Path
):
    content = json.loads((run / "run.json").read_text())
    with_other_facts = {key: content[key] for key in ("kind", "config", "gslopes")}
    with_an_option_that_went = {**content, "config": {**content["config"], "gone": 1}}
    go_on = [lambda: small.begin(source, run), lambda: small.begin(run, run)]
    cases = [*itertools.product((with_other_facts, with_an_option_that_went), go_on)]
    for old, opened in [*cases, (with_other_facts, lambda: gslopes.load(run))]:
        (run / "run.json").write_text(json.dumps(old))
        with pytest.raises(
            GslopesError, match=r"was made by gslopes .*, whose runs this version cannot open"
        ):
            opened()


@pytest.mark.slow
def test_done_again_a_run_needs_its_inputs_only_where_they_are_read(
    name: str, small: Small, finished: Path, tmp_path: Path
):
    source = small.prepare(tmp_path / "own")
    run = tmp_path / "run"
    small.begin(source, run)
    shutil.rmtree(source)
    noted = Noted()
    option, stale = small.change
    carry_out(plan(find_audit(name), run, None, option), noted)
    fresh = [note.split()[0] for note in noted.notes if note.endswith("up to date")]
    assert find_audit(name).stages[0].name in fresh
    assert stale not in fresh


def test_the_verb_has_what_every_verb_has(name: str):
    command = command_of(name)
    shown = CliRunner().invoke(command, ["--help-all"])
    assert shown.exit_code == 0
    for flag in (
        "--out",
        "--dry-run",
        "--json",
        "--fail-if",
        "--junit",
        "--open",
        "--config",
        "--set",
    ):
        assert flag in shown.output
    assert command.epilog is not None
    examples = [line.strip() for line in command.epilog.splitlines() if "gslopes" in line]
    assert examples
    assert all(example in shown.output for example in examples)


def test_the_dry_run_writes_nothing(name: str, small: Small, source: Path, tmp_path: Path):
    command = [str(source), "--out", str(tmp_path / "run"), "--dry-run", *small.flags(source)]
    done = CliRunner().invoke(
        command_of(name), command, standalone_mode=False, catch_exceptions=False
    )
    assert "Nothing was written." in done.output
    assert not (tmp_path / "run").exists()
