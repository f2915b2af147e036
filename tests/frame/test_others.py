"""A run folder that somebody else made: what only it names runs no code, and is sent no photos and no keys."""

import json
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

import gslopes
from gslopes.contexts.audit import CONTEXTS
from gslopes.core import GslopesError, UsageError
from gslopes.core.config import Stored
from gslopes.crops.audit import CROPS
from gslopes.frame.plan import plan
from gslopes.frame.spec import Audit, Run
from gslopes.slopes import judged
from gslopes.slopes.audit import SLOPES

EVIL = "http://192.0.2.1"
RUNS = ("python:theirs:f", "theirs.py:f", "python:theirs.py", "plugged", "plugged:a=b,c=d")
SENDS = (
    f"http:{EVIL}/",
    f"{EVIL}/tag,token=AWS_KEY",
    "http:env:AWS_KEY",
    "https://host,public=yes",
)
MODELS = (
    f"m,url={EVIL}/v1", "m,key=AWS_KEY", "m,header.X-A=env:AWS_KEY", f"url={EVIL}/v1,model=m",
    'm,extra.tools=[{"server_url":"https://host"}]', r"m\,,temperature=0.5,url=http://localhost:1/v1",
)  # fmt: skip
CLASSIFIERS = (
    *RUNS,
    *SENDS,
    *(f"llm:{model}" for model in MODELS),
    "clarifai:user=them,app=theirs",
    "clarifai:price=0.01",
    "google:price=0",
    "imagga:rate=1,price=0",
    "llm:gpt-4o,price_in=0.01,price_out=0.01",
    "llm:gpt-4o,image_tokens=1",
    "rekognition:region=eu-west-1,price=1e-9",
    "crops:python:theirs:f,opponents=.",
    "crops:theirs.py:f,opponents=.",
    r"crops:http:https://host\,token=AWS_KEY,opponents=.",
)
SOME = (RUNS[0], RUNS[1], "plugged", SENDS[0], f"llm:{MODELS[0]}")  # loading one takes a while
EDITORS = (*RUNS, *SENDS, *(f"images:{model}" for model in MODELS[:3]))


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the code of others makes if it runs; they have a module in the working folder, and a package."""
    mark = tmp_path / "it-ran"
    (tmp_path / "theirs.py").write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\ndef f(*given): raise OSError\n"
    )
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    dist = SimpleNamespace(name="theirs", metadata={"Summary": ""})
    point = SimpleNamespace(name="plugged", value="theirs:f", dist=dist)
    groups = {"gslopes.classifiers", "gslopes.editors", "gslopes.croppers"}
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if group in groups else [])
    monkeypatch.setenv("AWS_KEY", "a-key-of-this-user")
    return mark


def made(audit: Audit, folder: Path, **config: Any) -> Path:
    """A run folder of an audit as a stranger may write it.  config: over the defaults."""
    photos = folder / "photos"
    photos.mkdir(exist_ok=True)
    for number in range(4):
        Image.new("RGB", (64, 64 + number), "tan").save(photos / f"{number}.png")
    (photos / "people.csv").write_text("photo,gender\n0.png,f\n1.png,f\n2.png,m\n3.png,m\n")
    more = {"audit": {"photos": str(photos)}, "crops": {"people": str(photos / "people.csv")}}
    base = more.get(audit.name, {})
    manifest = {"kind": audit.name, "source": str(photos), "facts": [], "notes": []}
    run = folder / audit.name
    run.mkdir(exist_ok=True)
    (run / "run.json").write_text(json.dumps({**manifest, "config": base | config}))
    return run


def is_refused(audit: Audit, run: Path, what: str = "models", **options: Any) -> None:
    """Something of a plan, ``models`` or ``inputs``, cannot be had, and the sentence says what to do."""
    with pytest.raises(UsageError, match="Only the run folder names") as caught:
        getattr(plan(audit, run, None, options), what)
    assert "again in this command, or add --trust" in caught.value.hint


def is_let(make: Any) -> None:
    """Nothing is refused; what comes then, such as a missing key, does not matter."""
    said = ""
    try:
        make()
    except Exception as error:  # code of others may raise anything
        said = str(error)
    assert "run folder" not in said


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_that_runs_code_or_is_sent_photos_must_be_named(mark, tmp_path, name):
    run = made(SLOPES, tmp_path, score={"classifiers": ["celeba-tagger", name]})
    is_refused(SLOPES, run)
    is_refused(SLOPES, run, groups=(), cache=tmp_path)
    is_refused(CONTEXTS, made(CONTEXTS, tmp_path, classifiers=[name]))
    assert not mark.exists()
    if name in SOME:
        is_let(lambda: plan(SLOPES, run, None, {"classifier": name}).models)
        is_let(lambda: plan(SLOPES, run, None, {}, trust=True).models)


@pytest.mark.parametrize("name", EDITORS)
def test_an_editor_too_but_not_for_what_needs_none(mark, tmp_path, name):
    run = made(SLOPES, tmp_path, edit={"model": name}, score={"classifiers": ["celeba-tagger"]})
    if name.startswith("plugged"):  # its package would say how its name is spelled
        with pytest.raises(UsageError, match="Only the run folder names the editor plugged"):
            plan(SLOPES, run, None, {}, only=["fit"])
        assert not mark.exists()
    else:
        assert plan(SLOPES, run, None, {}, only=["fit", "report"]).models == {}
        is_refused(SLOPES, run, "inputs")
        assert not mark.exists()
    if name in SOME:
        is_let(lambda: plan(SLOPES, run, None, {"editor": name}).inputs)
        is_let(lambda: plan(SLOPES, run, None, {}, trust=True).inputs)


@pytest.mark.parametrize("name", [*RUNS, *SENDS])
def test_a_cropper_too(mark, tmp_path, name):
    run = made(CROPS, tmp_path, cropper=["centre", name])
    is_refused(CROPS, run)
    is_refused(CROPS, run, ratios=(1.0,))
    assert not mark.exists()
    if name in SOME:
        is_let(lambda: plan(CROPS, run, None, {"cropper": name}).models)


def test_tasks_batches_and_judges_hide_no_name(mark, tmp_path):
    name = f"llm:m,url={EVIL}/v1,price=0"
    scores = {"tasks": ["salary", "loan"]}, {"batch": True}, {"tasks": ["loan"], "batch": True}
    for score in scores:
        run = made(SLOPES, tmp_path, score={"classifiers": [name], **score})
        is_refused(SLOPES, run)
        is_refused(SLOPES, run, task="salary")
    run = made(SLOPES, tmp_path, score={"judges": [name]})
    with pytest.raises(UsageError, match="Only the run folder names the classifier llm:m"):
        judged.judges(Run(SLOPES, run, plan(SLOPES, run, None, {}).config))


@pytest.mark.parametrize(
    "name", ["celeba-tagger", "google", "rekognition:region=eu-west-1", "llm:gpt-6-luna,repeats=2", "azure:auth=entra"]
)  # fmt: skip
def test_what_is_ours_and_the_vendors_with_their_own_keys_go_on_as_before(tmp_path, name, mark):
    run = made(SLOPES, tmp_path, score={"classifiers": [name]})
    is_let(lambda: plan(SLOPES, run, None, {}).models)


def test_a_toml_file_that_is_named_names_too(mark, tmp_path):
    run = made(CROPS, tmp_path, cropper=["python:theirs:f"])
    (tmp_path / "mine.toml").write_text('cropper = ["python:theirs:f"]\n')
    assert plan(CROPS, run, None, {"config": tmp_path / "mine.toml"}).models
    assert mark.exists()


def test_pythons_doors_are_the_same(mark, tmp_path):
    run = made(
        SLOPES, tmp_path, score={"classifiers": ["python:theirs:f"]}, edit={"model": "theirs.py:f"}
    )
    for call in (
        lambda: gslopes.audit(run),
        lambda: gslopes.audit(run, classifier="celeba-tagger"),  # of the editor only run.json knows
        lambda: gslopes.synthesise(run),
        lambda: gslopes.score_photos(run, "celeba-tagger"),
        lambda: gslopes.audit_crops(made(CROPS, tmp_path, cropper=["theirs.py:f"])),
        lambda: gslopes.audit_contexts(made(CONTEXTS, tmp_path, classifiers=["theirs.py:f"])),
    ):
        with pytest.raises(GslopesError):
            call()
        assert not mark.exists()


def test_what_holds_for_one_command_is_not_stored_and_not_obeyed(tmp_path, mark):
    once = {"yes": True, "retry_failed": True, "confirm_above": 1e9}
    run = made(SLOPES, tmp_path, score={"classifiers": [], "budget": 3.0, **once})
    planned = plan(SLOPES, run, None, {})
    assert planned.config.score == type(planned.config.score)(budget=3.0)
    asked = plan(SLOPES, run, None, once)
    assert (asked.config.score.yes, asked.config.score.confirm_above) == (True, 1e9)
    assert once.keys().isdisjoint(asked.manifest["config"]["score"])
    crops = plan(CROPS, made(CROPS, tmp_path, cost_limits=once), None, once)
    assert once.keys().isdisjoint(crops.manifest["config"]["cost_limits"])


def test_a_mark_stays_on_what_is_added_and_goes_into_no_file():
    name = Stored("llm:m")
    assert isinstance(name + ",prompt=loan", Stored)
    assert json.dumps({name: [name]}) == '{"llm:m": ["llm:m"]}'
    assert Path(name) == Path("llm:m")
