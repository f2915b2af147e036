import dataclasses
import inspect
import math
import pickle
import re
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import click
import pytest

import gslopes as package
from gslopes.ask.config import CostLimits, ScoreConfig
from gslopes.captions.config import AuditOptions, CaptionsConfig
from gslopes.cli import main
from gslopes.cli.main import VERBS
from gslopes.collect.config import CensusConfig, CollectConfig
from gslopes.contexts.config import ContextOptions, ContextsConfig, StageConfig
from gslopes.core.errors import ConfigError
from gslopes.core.options import Option, build, extent, option, options_of, section
from gslopes.crops.config import CropsConfig
from gslopes.export.pictures import ExportConfig
from gslopes.frame.result import AUDITS, find_audit
from gslopes.slopes.config import RunConfig

MOST_SHOWN = 15
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Inner:
    size: tuple[float, float] | None = option(None, help="Ends.", parse=extent, metavar="LOW,HIGH")
    names: tuple[str, ...] = option(("a",), help="Names.", name="name", short="n")


@dataclass(frozen=True)
class Outer:
    count: int = option(3, help="How many.", least=1, most=9)
    way: Literal["up", "down"] = option("up", help="Which way.", advanced=True)
    file: Path | None = option(None, help="A file.")
    text: str = option("", help="A text.")
    fast: bool = option(False, help="Quickly.")
    inner: Inner = section(Inner)
    other: Inner = section(Inner, flat=())


def commands() -> dict[str, click.Command]:
    """Every command and every command of a group."""
    found: dict[str, click.Command] = {}
    for name in VERBS:
        command = main.get_command(click.Context(main), name)
        found |= {
            f"{name} {one}": inner for one, inner in getattr(command, "commands", {}).items()
        } or {name: command}
    return found


@pytest.mark.parametrize("name", commands())
def test_the_help_of_every_verb_shows_fifteen_options_at_most_and_the_long_help_all(
    name: str, gslopes
) -> None:
    command = commands()[name]
    short = [
        line for line in gslopes(*name.split(), "--help").out.splitlines() if line.startswith("  -")
    ]
    assert len(short) <= MOST_SHOWN
    if any(getattr(one, "advanced", False) for one in command.params):
        whole = " ".join(gslopes(*name.split(), "--help-all").out.split())
        assert all(one.opts[0] in whole for one in command.params if isinstance(one, click.Option))


def test_options_win_over_a_file_and_that_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('count = 5\nfile = "x.csv"\nname = "b"\n[other]\nsize = [1, 2]\n')
    made = build(Outer, {"config": file, "count": 7, "way": None, "other.names": ["c", "d"]})
    assert (made.count, made.way, made.file) == (7, "up", tmp_path / "x.csv")
    assert made.inner.names == ("b",)
    assert made.other == Inner(size=(1.0, 2.0), names=("c", "d"))


def test_a_text_is_typed_by_its_option() -> None:
    known = options_of(Outer)
    assert known["count"].typed("5") == 5
    assert known["fast"].typed("true") is True
    assert known["text"].typed("5") == "5"
    assert known["size"].typed("2") == (-2.0, 2.0)
    assert build(Outer, {"name": known["name"].typed('["a", "b"]')}).inner.names == ("a", "b")
    with pytest.raises(ConfigError, match="not two numbers"):
        known["size"].typed("1,2,3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cuont": 1}, "Did you mean 'count'"),
        ({"count": 0}, "between 1 and 9"),
        ({"count": "5"}, "whole number"),
        ({"way": "left"}, "one of 'up', 'down'"),
        ({"inner": 3}, r"must be a section \[inner\]"),
        ({"inner.size": (1, 2, 3)}, "must have 2 entries"),
    ],
)
def test_a_wrong_option_says_what_would_be_right(given: dict, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        build(Outer, given)
    assert message.replace("\\", "") in f"{error.value.message} {error.value.hint}"


def test_set_reaches_every_option_and_a_flag_wins(gslopes, draw, tmp_path: Path) -> None:
    import json

    args = ("audit", draw(1).photos, "--out", tmp_path / "run", "--dry-run", "--json")
    values = json.loads(
        gslopes(*args, "--set", "range=1", "--set", "edit.steps=5", "--steps", 3).out
    )["values"]
    assert values["gender"] == [-1, 0, 1]
    assert "Did you mean 'steps'" in gslopes(*args, "--set", "stpes=5").err


CONFIGURATIONS = [
    *(find_audit(name).config for name in AUDITS),
    CollectConfig,
    CensusConfig,
    ExportConfig,
]
BOUNDED = [
    (config, one)
    for config in CONFIGURATIONS
    for one in options_of(config).values()
    if one.item in (int, float)
]
NEEDED = {RunConfig: {"photos": "photos"}}


@pytest.mark.parametrize(
    ("config", "one"), BOUNDED, ids=lambda one: getattr(one, "name", getattr(one, "__name__", ""))
)
def test_no_option_of_any_audit_takes_what_its_declaration_excludes(
    config: type, one: Option
) -> None:
    assert one.least is not None
    beyond = [one.least - 1, *([] if one.most is None else [one.most + 1])]
    for number in [*map(one.item, beyond), True, math.nan, math.inf, -math.inf]:
        value = (number, 3) if one.parse is not None else number
        with pytest.raises(ConfigError, match=re.escape(".".join(one.path))):
            build(config, NEEDED.get(config, {}) | {one.name: value})


def test_a_ready_section_is_held_to_its_declaration_too() -> None:
    for config, name, ready in (
        (ContextsConfig, "analysis", ContextOptions(permutations=-3)),
        (ContextsConfig, "pictures", StageConfig(steps=True)),
        (CropsConfig, "cost_limits", CostLimits(budget=math.nan)),
        (CaptionsConfig, "options", AuditOptions(splits=0)),
    ):
        with pytest.raises(ConfigError, match=f"{name}\\."):
            build(config, {name: ready})


def test_a_negative_number_of_steps_is_refused_by_flag_set_file_and_keyword(
    gslopes, tmp_path: Path
) -> None:
    (tmp_path / "few.toml").write_text("[pictures]\nsteps = -3\n")
    command = ("contexts", tmp_path, "--people", "cfd", "--out", tmp_path / "run", "--dry-run")
    for given in (
        ("--steps", "-3"),
        ("--set", "pictures.steps=-3"),
        ("--config", tmp_path / "few.toml"),
    ):
        done = gslopes(*command, *given)
        assert (done.code, "steps is -3; it must be at least 3." in done.err) == (2, True)
    for audit in (package.audit, package.audit_contexts):
        with pytest.raises(ConfigError, match="steps is -3; it must be at least 3"):
            audit(tmp_path, tmp_path / "run", steps=-3)


def test_words_may_lie_in_options_toml_next_to_a_configuration_and_to_what_it_extends() -> None:
    known = options_of(ScoreConfig)
    words = tomllib.loads(Path(inspect.getfile(ScoreConfig)).with_name("options.toml").read_text())
    for name, holder in (("budget", "CostLimits"), ("unedited", "ScoreConfig")):
        written = words[holder][name]
        assert {fact: getattr(known[name], fact) for fact in written} == written
    assert (known["budget"].least, known["budget"].default) == (0, None)


@pytest.mark.parametrize("package", sorted(ROOT.glob("gslopes/**/options.toml")))
def test_every_table_of_options_toml_is_an_option(package: Path) -> None:
    configurations = {
        name: vars(import_module(".".join((*package.parent.relative_to(ROOT).parts, file.stem))))[
            name
        ]
        for file in package.parent.glob("*.py")
        for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.M)
    }
    for name, described in tomllib.loads(package.read_text("utf-8")).items():
        fields = {field.name for field in dataclasses.fields(configurations[name])}
        assert described.keys() <= fields, name
        facts = {fact for words in described.values() for fact in words}
        # the last two are of what follows a name, see ``ask.names``
        known = {field.name for field in dataclasses.fields(Option)} | {
            "argument",
            "fault",
            "form",
            "open",
            "operational",
        }
        assert facts <= known


# -- functions that take options --------------------------------------------------------------------------------------

WITH_OPTIONS = (
    "audit",
    "audit_captions",
    "audit_contexts",
    "audit_crops",
    "census",
    "collect_photos",
    "export",
    "fit_slopes",
    "score_photos",
    "synthesise",
)


def test_no_public_function_hides_its_options() -> None:
    for name in package.__all__:
        found = getattr(package, name)
        if not callable(found) or name in ("as_classifier", "as_editor"):
            continue  # fields of their objects' dataclasses, which their docstrings list
        kinds = [one.kind for one in inspect.signature(found).parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name
        about = inspect.getdoc(getattr(found, name, found))  # gslopes.export is a module, too
        assert ("\n\nOptions:\n    " in about) == (name in WITH_OPTIONS), name


def test_the_signature_and_the_docstring_of_a_function_have_what_is_declared() -> None:
    shown = inspect.signature(package.audit).parameters
    engine = shown["engine"]
    assert (engine.kind, engine.default) == (inspect.Parameter.KEYWORD_ONLY, "auto")
    assert engine.annotation == Literal["auto", "one", "ray"]
    assert list(shown).count("classifier") == 1
    assert shown["classifier"].default is None  # the function's own, not the option's
    assert {"photos", "attribute", "budget", "permutations", "score"} & {*shown} == {
        "photos",
        "attribute",
        "budget",
    }
    budget = options_of(RunConfig)["budget"]
    assert f"    budget: {budget.help}\n" in inspect.getdoc(package.audit) + "\n"
    assert "    seed: Seed of all random draws. [default: 0]\n" in inspect.getdoc(package.audit)


@pytest.mark.parametrize(
    ("name", "wrong", "near"),
    [
        ("audit", "atribute", "attribute"),
        ("audit", "clasifier", "classifier"),
        ("audit", "progres", "progress"),
        ("audit_crops", "poeple", "people"),
        ("audit_contexts", "classifer", "classifier"),
        ("audit_captions", "techniqu", "technique"),
        ("score_photos", "budgt", "budget"),
        ("synthesise", "comonents", "components"),
        ("fit_slopes", "lable", "label"),
        ("collect_photos", "per_querry", "per_query"),
        ("census", "confidense", "confidence"),
    ],
)
def test_a_wrong_keyword_is_refused_in_one_sentence_with_the_nearest(
    name: str, wrong: str, near: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as error:
        getattr(package, name)(tmp_path / "nowhere", **{wrong: 1})
    assert str(error.value) == f"There is no option {wrong!r}. Did you mean {near!r}?"
    assert list(tmp_path.iterdir()) == []


def test_sections_dotted_names_and_a_file_are_keywords_too(tmp_path: Path) -> None:
    (tmp_path / "few.toml").write_text("[fit]\npermutations = 7\n", "utf-8")
    for given in (
        {"fit": {"permutations": -1}},
        {"fit.permutations": -1},
        {"config": tmp_path / "few.toml", "fit": {"permutations": -1}},
    ):
        with pytest.raises(ConfigError, match=r"permutations is -1; it must be at least 0"):
            package.audit(tmp_path, tmp_path / "run", **given)


def test_a_function_with_options_travels_to_other_processes() -> None:
    for name in (one for one in WITH_OPTIONS if one != "export"):  # a module, too
        assert pickle.loads(pickle.dumps(getattr(package, name))) is getattr(package, name)
