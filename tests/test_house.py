"""The house is what it claims to be: layers, sizes, lazy imports, papers, commands, and the same from a wheel."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path

import click
import pytest

import gslopes
from gslopes.cli import main
from gslopes.core import options
from gslopes.frame.result import AUDITS, find_audit
from gslopes.slopes.config import RunConfig
from gslopes.slopes.outcome import Walked
from tests import english
from training.commands import begin, cache as cache_command, train

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "gslopes").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")

# Nothing but the walk itself, and only when it walks, may load these.
HEAVY = {
    "cv2",
    "facenet_pytorch",
    "matplotlib",
    "onnxruntime",
    "pandas",
    "pyarrow",
    "scipy",
    "torch",
}


def python(*args: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that sees this checkout only if it is started in it."""
    foreign = {"GSLOPES_HOME", "PYTHONPATH", "PYTHONSAFEPATH"}
    clean = {name: value for name, value in os.environ.items() if name not in foreign}
    command = [sys.executable, *args]
    return subprocess.run(
        command, cwd=cwd, env=clean | env, capture_output=True, text=True, check=False
    )


def loaded(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after the statement."""
    done = python("-c", f"import sys, json\n{statement}\nprint(json.dumps([*sys.modules]))")
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def fenced(marker: str) -> str:
    """The code block that follows ``<!-- marker -->`` in the README."""
    match = re.search(rf"<!-- {marker} -->\s*```bash\n(.*?)```", README, flags=re.DOTALL)
    assert match, f"README.md has no code block after <!-- {marker} -->"
    return match[1].strip()


# --- What is printed ---


def test_everything_is_printed_by_functions_that_make_it_printable():
    """A server's or a file's control characters would clear a screen: ``say`` and ``tell`` escape them."""
    doors = {"frame/commands.py", "ask/scoring/cost.py", "core/progress.py"}
    result = {
        str(path.relative_to(ROOT / "gslopes"))
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in ("print", "echo", "write")
        and ast.unparse(node.func) in ("print", "click.echo", "sys.stdout.write")
    }
    assert result == doors


# --- Layers and sizes ---


def test_every_contract_between_the_layers_is_kept(tmp_path):
    done = python(
        "-c",
        "from importlinter.cli import lint_imports_command as c; c()",
        "--cache-dir",
        str(tmp_path),
        "--no-logo",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(PROJECT['tool']['importlinter']['contracts'])} kept, 0 broken" in done.stdout


def test_modules_have_at_most_600_lines_and_open_with_a_docstring():
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in MODULES}
    assert [name for name, text in texts.items() if len(text.splitlines()) > 600] == []
    assert [name for name, text in texts.items() if not text.startswith(('"""', 'r"""'))] == []


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def words_of(node: ast.AST) -> set[str]:
    """Every identifier of a piece of code; those in texts, too: tables name functions as ``module:function``."""
    result: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Name):
            result.add(item.id)
        elif isinstance(item, ast.Attribute):
            result.add(item.attr)
        elif isinstance(item, ast.alias):
            result |= set(item.name.split("."))
        elif isinstance(item, ast.keyword):
            result.add(item.arg or "")
        elif (
            isinstance(item, ast.Constant) and isinstance(item.value, str) and len(item.value) < 200
        ):
            result |= set(re.findall(r"\w+", item.value))
    return result


def test_every_public_function_is_reached_by_a_test():
    """A function or class is reached if a test or a training names it, or what is reached does."""
    defined: dict[str, set[str]] = {}  # name to what its bodies name
    where: dict[str, Path] = {}
    reached: set[str] = set()
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.setdefault(node.name, set()).update(words_of(node) - {node.name})
                where[node.name] = path.relative_to(ROOT)
                if any(
                    ".command(" in ast.unparse(item) for item in node.decorator_list
                ):  # the door has it
                    reached.add(node.name)
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                reached |= words_of(node)  # it runs when the module is imported
    for path in (ROOT / "gslopes").rglob("*.toml"):  # tables of classifiers
        reached |= set(re.findall(r"\w+", path.read_text("utf-8")))
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "training").rglob("*.py")]:
        reached |= words_of(parsed(path))
    due = [name for name in defined if name in reached]
    while due:
        new = (defined[due.pop()] & defined.keys()) - reached
        reached |= new
        due += new
    public = {name for name in defined if not name.startswith("_")}
    assert sorted(f"{where[name]}: {name}" for name in public - reached) == []


# --- Lazy imports ---


def test_arithmetic_and_pages_work_without_torch():
    rooms = ("gslopes.slopes.measures", "gslopes.slopes.page", "gslopes.report")
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
    ]
    modules = [name for name in names if name.startswith(rooms)]
    assert len(modules) > 30
    assert not loaded(f"import {', '.join(modules)}") & {"torch", "torchvision", "facenet_pytorch"}


def test_the_help_names_the_verbs_and_importing_loads_nothing_heavy():
    assert not loaded("import gslopes; dir(gslopes)") & (HEAVY | {"numpy"})
    done = python("-X", "importtime", "-m", "gslopes", "--help")
    assert done.returncode == 0, done.stderr
    verbs = ["audit", "synthesise", "power", "list", "demo", "train"]
    assert [
        verb
        for verb in verbs
        if not re.search(rf"^  ([a-z]+, )*{verb}\b", done.stdout, flags=re.MULTILINE)
    ] == []
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "click" in imported
    assert not imported & HEAVY


def test_faces_are_found_without_the_compiler_that_torchvision_imports():
    assert "torchvision" not in loaded(
        "from gslopes.faces.find import MtcnnFinder; MtcnnFinder().detector"
    )


def test_every_public_name_is_there_and_annotated_and_documented_and_torch_waits_until_a_network_is_asked_for():
    check = (
        "import gslopes, inspect, sys\n"
        "for name in gslopes.__all__: getattr(gslopes, name)\n"
        "assert 'torch' not in sys.modules\n"
        "for name in gslopes.__all__:\n"
        "    thing = getattr(gslopes, name)\n"
        "    if callable(thing):\n"
        "        assert (inspect.getdoc(thing) or '').strip(), name\n"
        "        called = thing.__init__ if inspect.isclass(thing) else thing\n"
        "        called = type(thing).__call__ if inspect.ismodule(thing) else called  # export, a room, too\n"
        "        assert 'return' in called.__annotations__, name\n"
    )
    done = python("-W", "error", "-c", check)
    assert done.returncode == 0, done.stderr


# --- Commands and papers ---


def test_every_verb_in_the_readme_is_a_command():
    verbs = set(re.findall(r"(?:`|^|&& )gslopes ([a-z]+)", README, flags=re.MULTILINE))
    assert verbs <= set(main.list_commands(click.Context(main)))


def test_the_version_is_one():
    done = python("-c", "import gslopes; print(gslopes.__version__.partition('+')[0])")
    version = PROJECT["project"]["version"]
    assert done.stdout.strip() == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize(
    ("marker", "command"),
    [
        ("demo-command", "pip install . && gslopes demo"),
        (
            "test-command",
            """pip install -e '.[dev]' && python -m pytest -m "not slow" -n auto --dist loadfile""",
        ),
    ],
)
def test_ci_runs_the_two_commands_that_the_readme_gives(marker: str, command: str):
    assert fenced(marker) == command
    script = (ROOT / ".ci/run").read_text("utf-8")
    assert f"\nrun_documented {marker}\n" in script
    (function,) = re.findall(r"^documented\(\) \{\n.*?^\}", script, flags=re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        ["bash", "-c", f"{function}\ndocumented {marker}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == command


def test_ci_runs_the_slow_tests_that_are_evidence_after_the_quick_ones():
    script = (ROOT / ".ci/run").read_text("utf-8")
    _, quick, after = script.partition("\nrun_documented test-command\n")
    assert quick
    assert '\npython -m pytest -m "slow and evidence" -n auto --dist loadfile\n' in after


def test_the_python_of_the_readme_uses_names_and_options_that_exist():
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    nodes = list(ast.walk(ast.parse(block)))
    dotted = [
        node
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    used = {(node.value.id, node.attr) for node in dotted}
    (call,) = [
        node
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "gslopes.audit"
    ]
    assert {name for owner, name in used if owner == "audit"} <= set(dir(Walked)) | {
        *Walked.__dataclass_fields__
    }
    assert {name for owner, name in used if owner == "gslopes"} <= set(gslopes.__all__)
    assert {word.arg for word in call.keywords} <= {*options.options_of(RunConfig), "classifier"}


PAPERS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "METHOD.md",
    "SECURITY.md",
    "training/README.md",
]
CARDS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "models").glob("*/card.md"))


PATH = re.compile(
    r"(?<![\w/.<~-])(?:gslopes|tests|models|training|weights|notebooks|\.ci)/[\w./*<>{}-]+"
)
PACKAGES = sorted(
    path.name for path in (ROOT / "gslopes").iterdir() if path.is_dir() and path.name.isalpha()
)
PACKAGES = [
    name for name in PACKAGES if name not in ("frame", "photos", "words")
]  # variables of examples, too
DOTTED = re.compile(
    rf"(?<![\w./'\"])(?:gslopes\.\w+|{'|'.join(PACKAGES)})\.[a-z_]\w+(?:\.\w+)*(?![\w(/=])"
)


def missing(text: str) -> list[str]:
    """Paths and dotted names in a text that lead nowhere; patterns and placeholders do not count."""
    paths = {path.rstrip(".,:;") for path in PATH.findall(text)}
    wrong = [path for path in paths if not set("<>{}*") & set(path) and not (ROOT / path).exists()]
    for name in {name.removeprefix("gslopes.") for name in DOTTED.findall(text)}:
        position, parts = ROOT / "gslopes", name.split(".")
        while parts and ((position / parts[0]).is_dir() or (position / f"{parts[0]}.py").is_file()):
            position /= parts.pop(0)
        file = position / "__init__.py" if position.is_dir() else position.with_suffix(".py")
        is_file = (
            len(name.split(".")) == 2
            and parts
            and parts[0] in ("csv", "html", "json", "md", "parquet", "toml")
        )
        if parts and not is_file and not re.search(rf"\b{parts[0]}\b", file.read_text("utf-8")):
            wrong.append(name)
    return sorted(wrong)


def test_every_path_and_name_in_the_papers_exists():
    result = missing(
        "gslopes/no.py, slopes.plan.Nothing, gslopes/stats/ols.py, gslopes.datasets.drawn"
    )
    assert result == ["datasets.drawn", "gslopes/no.py", "slopes.plan.Nothing"]
    wrong = {page: missing((ROOT / page).read_text("utf-8")) for page in PAPERS + CARDS}
    assert {page: names for page, names in wrong.items() if names} == {}


def test_every_path_and_name_in_the_docstrings_exists():
    wrong = {}
    for path in MODULES:
        tree = parsed(path)
        nodes = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ]
        result = missing("\n".join(ast.get_docstring(node) or "" for node in nodes))
        wrong |= {str(path.relative_to(ROOT)): result} if result else {}
    assert wrong == {}


def options_of(command: click.Command) -> set[str]:
    """The long options of a command and of those below it."""
    result = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for name in (
        command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ()
    ):
        result |= options_of(command.get_command(click.Context(command), name))
    return result | {"--help", "--help-all"}


OPTION = re.compile(r"(?<![\w(-])--(?:set [a-z_.]+(?==)|[a-z][a-z-]*[a-z](?![\w:-]))")
OTHERS = re.compile(
    r"\b(?:pip|pipx|uv|docker|gh|mkdocs|ray|wsl|llama-server|tf2onnx\.\w+|pytest|torchrun|tests(?:\.\w+)+) [^`\n]*"
)  # other programs


@cache
def every_option() -> set[str]:
    """Of all verbs; ``--set NAME`` of what audits can set."""
    every = [options.options_of(find_audit(name).config).items() for name in AUDITS]
    names = {
        item for some in every for name, option in some for item in (name, ".".join(option.path))
    }
    training = options_of(train) | options_of(begin) | options_of(cache_command)
    return options_of(main) | training | {f"--set {name}" for name in names}


def unknown_options(text: str, bare: bool = True) -> list[str]:
    """``verb --option`` for each option that a text gives to a verb which has none of that name; options of no verb."""
    wrong = set(OPTION.findall(OTHERS.sub("", text))) - every_option() if bare else set()
    for verb, rest in re.findall(r"\bgslopes ([a-z]+)( [^\n`&|;\"']*)", text):
        command = (
            train if verb == "train" else main.get_command(click.Context(main), verb)
        )  # a door has none itself
        options = re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", rest) if command else []
        wrong |= {f"{verb} {name}" for name in options if name not in options_of(command)}
    return sorted(wrong)


def test_every_option_that_papers_docstrings_and_errors_give_to_a_verb_exists():
    text = "`gslopes audit RUN --presnce 0.5`, `gslopes crops --region no`, `pip --strict`, `--blend`, `--set blnd=no`"
    assert unknown_options(text) == [
        "--blend",
        "--presnce",
        "--set blnd",
        "audit --presnce",
        "crops --region",
    ]
    files = [
        *(ROOT / page for page in PAPERS + CARDS),
        *MODULES,
        *(ROOT / "gslopes").rglob("*.toml"),
    ]
    texts = {path: path.read_text("utf-8") for path in files}
    wrong = {
        str(path): unknown_options(text, "CHANGELOG" not in path.name)
        for path, text in texts.items()
    }
    assert {name: result for name, result in wrong.items() if result} == {}


def test_our_words_are_the_ones_we_promised():
    pages = [*MODULES, *(ROOT / "models").rglob("*.md"), ROOT / "README.md"]
    banned = re.compile(r"\bde-?bias|\bunbiased|race detector|gender detector", flags=re.IGNORECASE)
    assert [str(path) for path in pages if banned.search(path.read_text("utf-8"))] == []


def test_our_english_is_within_its_measure():
    assert english.excesses() == []


def test_the_measure_of_english_counts_idioms_in_prose_and_vague_names_in_code(tmp_path):
    (tmp_path / "one.py").write_text(
        '"""Says what stands alone."""\nfound = says = 1  # that of it\n'
    )
    rates = english.idioms(english.prose(tmp_path))
    assert rates["stands"] == rates["alone"] == rates["that of"] > 0
    assert rates["where"] == 0
    assert english.vague(tmp_path) == 500


# --- Models ---


def test_all_weights_together_stay_under_32_mib_and_none_is_a_pickle():
    files = [path for path in (ROOT / "weights").rglob("*") if path.is_file()]
    assert files
    assert sum(path.stat().st_size for path in files) < 32 * 2**20
    assert not [
        path.name for path in files if path.suffix in (".pt", ".pth", ".pkl", ".ckpt", ".bin")
    ]


# --- The wheel ---


@pytest.fixture(scope="module")
def wheel_install(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from this checkout, installed in an environment with nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--disable-pip-version-check", "--no-deps", "--no-index"]
    built = python(
        "-m", "pip", "wheel", *offline, "--no-build-isolation", "-w", str(folder), str(ROOT)
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("gslopes-*.whl")
    put = python("-m", "pip", "install", *offline, "--target", str(folder / "site"), str(wheel))
    assert put.returncode == 0, put.stderr
    return folder / "site"


@pytest.mark.slow
def test_an_installed_wheel_holds_models_and_weights_bit_for_bit(wheel_install: Path):
    read = {
        "models": ("*/spec.toml", "*/card.md"),
        "weights": ("*/model.safetensors", "*/metrics.json", "*/sha256"),
    }
    assets = wheel_install / "gslopes/_assets"
    ours = {
        path.relative_to(ROOT): path
        for name in read
        for item in read[name]
        for path in (ROOT / name).glob(item)
    }
    theirs = {path.relative_to(assets): path for path in assets.rglob("*") if path.is_file()}
    assert len(ours) > 50
    assert {name: digest(path) for name, path in ours.items()} == {
        name: digest(path) for name, path in theirs.items()
    }
    notes = {path.name for path in wheel_install.rglob("*.md") if path.name != "card.md"}
    assert notes == set(), "no command reads it: leave it out of the wheel"
    assert (wheel_install / "gslopes/py.typed").is_file()
    assert not (wheel_install / "tests").exists()


@pytest.mark.slow
def test_an_installed_wheel_finds_and_loads_its_models_from_elsewhere(
    wheel_install: Path, tmp_path: Path
):
    listed = python(
        "-m", "gslopes", "list", "models", "--json", cwd=tmp_path, PYTHONPATH=str(wheel_install)
    )
    assert listed.returncode == 0, listed.stderr
    models = json.loads(listed.stdout)
    shipped = {path.parent.name for path in (ROOT / "weights").glob("*/*.safetensors")}
    assert {model["name"] for model in models if model["sha256"]} == shipped
    assert all(
        Path(model["path"]).is_relative_to(wheel_install) for model in models if model["sha256"]
    )
    load = "import sys, gslopes.faces.zoo as zoo\nfor name in sys.argv[1:]: zoo.load(name)"
    usable = sorted(
        name for name in shipped if not name.endswith("-teacher")
    )  # which only training builds
    done = python("-c", load, *usable, cwd=tmp_path, PYTHONPATH=str(wheel_install))
    assert done.returncode == 0, done.stderr


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
