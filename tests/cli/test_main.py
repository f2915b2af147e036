import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from gslopes.cli import main
from gslopes.cli.main import VERBS, Interrupts


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_examples_that_parse(gslopes, verb):
    done = gslopes(verb, "--help")
    assert done.code == 0
    _, _, text = done.out.partition("Examples:")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("gslopes ")]
    assert lines
    for line in lines:
        words = shlex.split(line)
        args = words[1 : words.index(">") if ">" in words else None]
        assert args[0] == verb
        command = main.get_command(click.Context(main), verb)
        command.make_context(verb, args[1:])  # raises for an option that there is not


@pytest.mark.parametrize("verb", VERBS)
def test_options_say_what_they_are(gslopes, verb):
    command = main.get_command(click.Context(main), verb)
    options = [param.help or "" for param in command.params if isinstance(param, click.Option)]
    assert not [text for text in options if not text or text.startswith("Of ")], (
        "a fragment, not a sentence of its own"
    )
    assert command.get_short_help_str()


def test_a_list_in_a_help_keeps_its_lines(gslopes):
    assert "\n  imagefolder  files and metadata.jsonl\n" in gslopes("export", "--help").out


def test_the_help_fits_a_screen_begins_with_what_people_begin_with_and_names_every_verb_and_exit_code(
    gslopes,
):
    out = gslopes("--help").out
    assert len(out.splitlines()) < 24
    assert max(map(len, out.splitlines())) <= 80
    listed = re.findall(r"^  ([a-z, ]+?)  +[A-Z]", out, flags=re.MULTILINE)
    assert listed[:4] == ["demo", "try", "audit", "compare"]
    assert [name for line in listed for name in line.split(", ")] == list(VERBS)
    assert "3 some photos or questions failed" in " ".join(out.split())


def test_the_help_of_an_audit_shows_the_ten_options_that_people_use_and_the_long_one_all(gslopes):
    def shown(option):
        return set(
            re.findall(r"^  (?:-\w, )?--([\w-]+)", gslopes("audit", option).out, flags=re.MULTILINE)
        ) - {"help"}

    chief = {
        "out",
        "classifier",
        "attribute",
        "limit",
        "budget",
        "only",
        "fail-if",
        "dry-run",
        "open",
        "json",
    }
    assert shown("--help") == chief
    command = main.get_command(click.Context(main), "audit")
    assert shown("--help-all") == {
        param.opts[0][2:] for param in command.params if isinstance(param, click.Option)
    }


def test_without_a_verb_the_help_is_shown_and_the_code_is_2(gslopes):
    done = gslopes()
    assert done.code == 2
    assert "Examples:" in done.out + done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["auidt"], "Did you mean 'audit'?"),
        (["xyz"], "Verbs: " + ", ".join(VERBS) + "."),
        (["audit", "--out", "run"], "No folder of photos"),
        (["audit", "none", "--out", "run"], "There is no folder"),
        (["audit", "none", "--out", "run", "--steps", "6"], "odd"),
        (["audit", "none", "--out", "run", "--range", "2,-2"], "two numbers that grow"),
        (["audit", "none", "--out", "run", "--region", "hair"], "'face', 'skin'"),
        (["audit", "none", "--out", "run", "--device", "gpu"], "cuda:N"),
        (["audit", "none", "--out", "run", "--config", "none.toml"], "There is no file none.toml"),
        (["audit", "none", "--out", "run", "--atribute", "gender"], "--attribute"),
        (["synthesise", "none", "--out", "run", "--attribute", "gendr"], "Did you mean 'gender'?"),
        (
            ["audit", "none", "--out", "run", "--classifier", "celeba-tager"],
            "Did you mean 'celeba-tagger'?",
        ),
        (["audit", "none", "--only", "fit"], "There is no folder"),
        (
            ["audit", "none", "--only", "score", "--fail-if", "finding"],
            "Add --only fit or --only report.",
        ),
        (
            ["compare", "a", "--drift", "b", "--fail-if", "changed", "--open"],
            "does not take --fail-if, --open.",
        ),
        (["train", "gender-feld", "--data", "."], "Did you mean 'gender-field'?"),
    ],
)
def test_a_wrong_command_is_a_sentence_with_a_next_step_and_code_2(
    gslopes, tmp_path, monkeypatch, args, sentence
):
    monkeypatch.chdir(tmp_path)
    done = gslopes(*args)
    assert done.code == 2, done.err
    assert sentence in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


def test_the_version_is_printed(gslopes):
    assert re.fullmatch(r"gslopes \d+\.\d+\.\d+\S*\n", gslopes("--version").out)


@pytest.fixture
def failing(monkeypatch):
    def fail(error):
        def raise_error(*args, **kwargs):
            raise error

        monkeypatch.setattr("gslopes.faces.zoo.list_models", raise_error)

    return fail


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (RuntimeError("the sky fell"), 1, "Unexpected RuntimeError: the sky fell"),
        (MemoryError(), 1, "Memory ran out."),
        (KeyboardInterrupt(), 130, "the same command goes on from there"),
        (ValueError("caf\udce9"), 1, "caf\\udce9"),
    ],
)
def test_what_was_not_foreseen_is_a_sentence_too(gslopes, failing, error, code, sentence):
    failing(error)
    done = gslopes("list", "models")
    assert done.code == code
    assert sentence in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("args", [("--debug", "list", "models"), ("list", "models", "--debug")])
def test_debug_shows_the_traceback_wherever_it_stands(gslopes, failing, args):
    failing(RuntimeError("the sky fell"))
    done = gslopes(*args)
    assert done.code == 1
    assert "Traceback" in done.err


def test_training_passes_every_option_on(gslopes, monkeypatch, tmp_path):
    received = {}

    def run_recipe(recipe, **options):
        received.update(options, recipe=recipe)
        return tmp_path / "weights"

    monkeypatch.setattr("training.recipe.run_recipe", run_recipe)
    done = gslopes(
        "train",
        "gender-fader",
        "--data",
        tmp_path,
        "--steps",
        5,
        "--device",
        "cpu",
        "--out",
        tmp_path / "o",
    )
    assert (done.code, done.out) == (0, f"{tmp_path / 'weights'}\n")
    assert received == {
        "recipe": "gender-fader", "data": tmp_path, "steps": 5, "limit": None, "dry_run": False, "device": "cpu",
        "out": tmp_path / "o", "pool": 8192, "sheet_every": 0, "tensorboard": False,
    }  # fmt: skip


# Code that runs after a line is printed, and never ends: it lets other threads run, or it does not.
STUCK = {
    "hash": ("import hashlib", "hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)"),
    "loop": ("", "while True: pass"),
    "thread": (
        "import threading",
        "threading.Thread(target=threading.Event().wait).start(); threading.Event().wait()",
    ),
    "pool": (
        "import concurrent.futures, time",
        "list(concurrent.futures.ThreadPoolExecutor(2).map(time.sleep, [9999] * 9))",
    ),
    "swallow": (
        "import time",
        "while True:\n    try: time.sleep(99)\n    except BaseException: pass",
    ),
    "child": ("import subprocess", "subprocess.run(['sleep', '20'])"),
    "torch": ("import torch", "x = torch.eye(500)\nwhile True: x = x @ x"),
    "onnx": (
        "import onnx.parser, onnxruntime\n"
        'text = \'<ir_version: 8, opset_import: ["": 17]> g (float[1] x) => (float[1] y) { '
        "n = Constant<value = int64[1] {9000000000000000000}>() m = Squeeze(n) c = Constant<value = bool[1] {1}>() "
        "d = Squeeze(c) y = Loop(m, d, x) <body = b (int64 i, bool k, float[1] v) => (bool o, float[1] w) "
        "{ o = Identity(k) w = Identity(v) }> }'\n"
        "session = onnxruntime.InferenceSession(onnx.parser.parse_model(text).SerializeToString())",
        "import numpy; session.run(None, {'x': numpy.ones(1, 'float32')})",
    ),
}
HELD = {
    "regex": ("import re", "re.match('(a+)+$', 'a' * 90 + 'b')"),
    "power": ("", "pow(7, 10**10)"),
}
SLOW = ("torch", "onnx", "pool", "child", "swallow")


# Run in a thread, as classifiers are, while the main one waits and takes the first interrupt.
THREADED = """
def run():
    {}
thread = threading.Thread(target=run)
thread.start()
while True:
    try:
        thread.join(99)
    except KeyboardInterrupt:
        pass
"""


def interrupted_twice(first: str, then: str, threaded: bool = True) -> tuple[int, bytes]:
    """The exit code and the output within two seconds of the second interrupt."""
    install = "import threading\nfrom gslopes.cli.main import Interrupts\nInterrupts().install()\n"
    code = THREADED.format(then.replace("\n", "\n    ")) if threaded else then
    command = [sys.executable, "-c", f"{first}\n{install}print('ready', flush=True)\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        for _ in range(2):
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        code = process.wait(2)
        os.set_blocking(process.stderr.fileno(), False)
        return code, process.stderr.read() or b""


@pytest.mark.parametrize(
    "code", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in STUCK]
)
def test_the_second_interrupt_ends_what_does_not_give_control_back(code):
    ended = interrupted_twice(*STUCK[code], code not in ("hash", "onnx", "swallow"))
    assert ended == (130, b"\ngslopes: Ended at once; what was in flight is lost.\n")


@pytest.mark.parametrize("code", HELD)
def test_the_second_interrupt_ends_what_lets_no_thread_of_python_run(code):
    assert interrupted_twice(*HELD[code]) == (-signal.SIGINT, b"")  # which a shell calls 130


LEFT = {
    "a thread": "threading.Thread(target=time.sleep, args=(60,)).start()",
    "a pool": "ThreadPoolExecutor().submit(time.sleep, 60)",
    "an exit handler": "atexit.register(time.sleep, 60)",
    "a lock": "threading.Thread(target=threading.Lock().acquire).start(); threading.Thread(target=wait).start()",
    "a stream": "sys.stdout.write('x'); threading.Thread(target=wait).start()",
}


@pytest.mark.slow
@pytest.mark.parametrize("leftover", LEFT)
def test_a_process_does_not_outlive_its_work(leftover, tmp_path):
    imports = (
        "import atexit, sys, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n"
    )
    imports += (
        "import gslopes.faces.zoo\nfrom gslopes.cli import main\nwait = threading.Event().wait\n"
    )
    listed = f"def listed():\n    {LEFT[leftover]}\n    return []\ngslopes.faces.zoo.list_models = listed\n"
    (tmp_path / "left.py").write_text(
        f"{imports}{listed}sys.argv = ['gslopes', 'list', 'models']\nmain()\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "left.py"], cwd=tmp_path, capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"x") == (leftover == "a stream")
    assert time.monotonic() - began < 20


def test_the_second_interrupt_ends_the_process_at_once(monkeypatch, capfd):
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts()
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit, match="130"):
        interrupts()
    assert capfd.readouterr().err == "\ngslopes: Ended at once; what was in flight is lost.\n"


@pytest.mark.slow
def test_ctrl_c_in_an_audit_is_a_sentence_and_what_was_done_is_kept(home, draw, toy, tmp_path):
    faces, run = draw(69), tmp_path / "run"
    args = [
        "audit",
        faces.photos,
        *faces.args,
        "--set",
        "part=3",
        "--steps",
        3,
        "--classifier",
        toy,
        "--out",
        run,
    ]
    command = [sys.executable, "-m", "gslopes", *map(str, args)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None and len(list(run.rglob("*.*"))) < 30:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, "Traceback" in err) == (130, False), err
    assert "the same command goes on from there" in err
    assert list(run.glob("parts/synthesise/photos-*.parquet"))


@pytest.mark.parametrize(
    ("streams", "code"),
    [
        (">&- 2>&-", 2),
        pytest.param("2>/dev/full", 2, marks=pytest.mark.slow),
        pytest.param("2>&1 | true", 2, marks=pytest.mark.slow),
    ],
)
def test_where_no_error_can_be_written_the_exit_code_says_it_alone(streams: str, code: int):
    command = f"{shlex.quote(sys.executable)} -m gslopes audit nowhere --out run {streams}; exit ${{PIPESTATUS[0]}}"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["bash", "-c", command], timeout=60, check=False, env=buffered)
    assert done.returncode == code


def test_a_result_that_cannot_be_printed_is_a_sentence():
    command = f"{shlex.quote(sys.executable)} -m gslopes list classifiers > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert done.stderr.startswith(
        "gslopes: The result cannot be printed: no space left on device.\n"
    )


SAYING = """
import click
from gslopes.cli import main
from gslopes.frame import commands
def shown():
    commands.say("“−1” 👩 \\udc80 東京")
    commands.say("ü 東", err=True)
    commands.print_json("東 −")
main.get_command = lambda ctx, name: click.Command("list", callback=shown)
main(["list"])
"""


@pytest.mark.parametrize(
    ("environment", "encoding"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "ascii"),
        ({"PYTHONIOENCODING": "latin-1:strict"}, "latin-1"),
        pytest.param({"PYTHONIOENCODING": "cp1252"}, "cp1252", marks=pytest.mark.slow),
        pytest.param(
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            "ascii",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"COLUMNS": "1", "TERM": "dumb", "NO_COLOR": "1"}, "utf-8", marks=pytest.mark.slow
        ),
    ],
)
def test_what_an_encoding_lacks_is_escaped_and_nothing_is_lost(
    tmp_path: Path, environment: dict[str, str], encoding: str
):
    """Words of others, signs of our own, and JSON, on both streams; a path with half a character."""
    (tmp_path / "saying.py").write_text(SAYING, "utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONIO")}
    done = subprocess.run(
        [sys.executable, tmp_path / "saying.py"],
        capture_output=True,
        timeout=60,
        check=False,
        env=clean | environment,
    )
    assert done.returncode == 0, done.stderr
    out, err = (stream.decode(encoding) for stream in (done.stdout, done.stderr))
    for lines in (out.splitlines()[0], err.splitlines()[0]):
        assert "東" in lines or "\\u6771" in lines
    assert json.loads(out.splitlines()[1]) == "東 −"


@pytest.mark.parametrize("json_too", ["", pytest.param("--json", marks=pytest.mark.slow)])
def test_a_reader_that_goes_away_changes_no_exit_code(json_too: str):
    command = f"{shlex.quote(sys.executable)} -m gslopes list classifiers {json_too} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


ENDING = """
import atexit, os, signal, sys
from gslopes.cli.main import Interrupts
class Late:
    def __del__(self, os=os, signal=signal):  # while Python ends
        os.kill(os.getpid(), signal.SIGINT)
Interrupts().install()
late = Late()
sys.exit(130)
"""


def test_an_interrupt_while_python_ends_changes_nothing():
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


WITHIN_EXEC = """
import gslopes.faces.zoo
from gslopes.cli import main
def interrupted():
    exec("raise KeyboardInterrupt")
gslopes.faces.zoo.list_models = interrupted
main(["list", "models"])
"""


def test_an_interrupt_within_an_exec_as_of_dataclasses_ends_with_our_code(tmp_path):
    (tmp_path / "within.py").write_text(WITHIN_EXEC)
    command = [sys.executable, "-m", "within"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 130
    assert b"gslopes: Stopped." in done.stderr


@pytest.mark.slow
def test_training_without_its_extra_names_what_to_install():
    code = "import sys; sys.modules['tqdm'] = None\nsys.argv = ['gslopes', 'train', 'judge', '--data', '.']\n"
    code += "from gslopes.cli.main import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "Trainings need tqdm, which is not installed." in done.stderr
    assert "pip install -e '.[train]'" in done.stderr
