"""Free texts marked by a judge: hidden until people have marked enough of them, then slopes with their agreement."""

import base64
import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes import judged
from tests.fake_provider.folder import write_run
from tests.fake_provider.pictures import decode, place
from tests.loopback import QuietHandler, serving

TEXTS = ["A warm and kind person.", "A quiet person.", "A competent and skilled person."]
FIELDS = {"model", "messages", "temperature", "seed", "max_tokens", "stream", "response_format"}
FIELDS |= {"logprobs", "top_logprobs"}


class Server(QuietHandler):
    """Chat completions, strictly: who sees a picture describes it, who sees a text alone marks it."""

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert not set(asked) - FIELDS
        parts = {part["type"]: part for part in asked["messages"][-1]["content"]}
        text = parts["text"]["text"]
        if "image_url" in parts:
            answer = self.described(parts["image_url"]["image_url"]["url"])
        else:
            answer = self.marked(text)
        if answer is None:
            return self.send(404, b'{"error": {"message": "no such model"}}', "application/json")
        message = {"role": "assistant", "content": json.dumps(answer)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 5}
        body = {"model": asked["model"], "choices": [choice], "usage": usage}
        return self.send(200, json.dumps(body).encode(), "application/json")

    def described(self, url: str) -> dict[str, str]:
        a, u = place(decode(base64.b64decode(url.partition(",")[2])))
        self.service.pictures += 1
        text = TEXTS[0] if u < 0.5 * (1 - 0.25 * a) else TEXTS[2]
        return {"text": f"{text} Number {round(100 * u)}."}

    def marked(self, text: str) -> dict[str, str] | None:
        said = text.rpartition("Text: ")[2]
        scale = "warm" if "How warm" in text else "competent"
        self.service.marked[scale, said] += 1
        self.service.told.append(text)
        if self.service.refuses:
            return None
        return {"answer": "F" if scale in said else "C"}


@pytest.fixture
def server():
    service = SimpleNamespace(pictures=0, marked=Counter(), told=[], refuses=False)
    with serving(service, Server):
        yield service


def options(server, cache: Path, price: str = "") -> list[object]:
    url = f"url=http://127.0.0.1:{server.port}/v1,repeats=1"
    asked = ["--classifier", f"llm:writer,{url},prompt=impression"]
    asked += ["--judge", f"llm:judge,{url},scores=repeats{price}"]
    only = [word for stage in ("score", "judge", "fit", "report") for word in ("--only", stage)]
    return [*asked, *only, "--yes", "--cache", cache]


def mark(run: Path, most: int, off: int = 0) -> None:
    """What a person who agrees with the judge but for ``off`` places saves as review.csv."""
    with (run / "review.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "warmth", "competence", "reviewer", "note"])
        for path in sorted((run / judged.TEXTS).glob("*.txt"))[:most]:
            said = path.read_text()
            marks = [(6 if word in said else 3) - off for word in ("warm", "competent")]
            rows.writerow([path.stem, *marks, "ann", ""])


def findings(run: Path) -> pd.DataFrame:
    found = tables.reading(tables.read(tables.SLOPES, run / "slopes.parquet"))
    return found[found["classifier"].str.endswith(",judge=judge")].set_index("label")


@pytest.mark.evidence
@pytest.mark.slow
def test_marks_are_hidden_until_people_have_marked_texts_and_then_have_slopes(
    server, gslopes, tmp_path
):
    run = write_run(tmp_path / "run", 24, part=8)
    given = options(server, tmp_path / "cache")
    done = gslopes("audit", run, *given)
    assert done.code == 0, done.err
    texts = tables.read_columns(tables.EDITS, run / "judged/edits.parquet", ["file"])["file"]
    assert server.pictures == 24 * 7 == len(texts)
    assert set(server.marked.values()) == {1}  # each distinct text once on each scale
    assert len(server.marked) == 2 * texts.nunique()
    for word in ("gender", "feminine", "masculine", "-2"):
        assert not any(word in text for text in server.told)
    assert findings(run).empty
    html = (run / "report/index.html").read_text("utf-8")
    assert "marks are hidden, since people have marked 0 of the 20 texts" in html
    assert ",judge=" not in html
    assert "hidden" in done.out
    review = (run / "review.html").read_text("utf-8")
    assert "Number" in review
    assert "(levels)" not in review

    mark(run, 19)
    gslopes("audit", run, *given)
    assert findings(run).empty
    mark(run, 100, off=1)
    done = gslopes("audit", run, *given)
    rows = findings(run)
    # a text that is warm has 6 of 7 places, another 3: a quarter of half of the photos change a unit
    row = rows.loc["warmth (levels)"]
    assert row["ci_low"] < -3 / 8 < row["ci_high"]
    assert row["unit"] == "levels per unit"
    assert rows.loc["competence (levels)", "slope"] == pytest.approx(-row["slope"])
    agreed = tables.read(tables.AGREEMENT, run / "agreement.parquet").set_index("scale")
    assert agreed["n"].tolist() == [texts.nunique()] * 2
    assert agreed["rho"].tolist() == pytest.approx([1, 1])
    assert agreed["difference"].tolist() == [1, 1]
    assert "on average +1.00 places higher" in (run / "report/index.html").read_text("utf-8")
    assert server.pictures == 24 * 7
    assert set(server.marked.values()) == {1}


@pytest.mark.slow
def test_a_budget_and_a_kill_ask_no_text_twice(server, gslopes, tmp_path):
    run = write_run(tmp_path / "run", 8, part=4)
    given = options(server, tmp_path / "cache", ",price=2,concurrency=1")
    stopped = gslopes("audit", run, *given, "--budget", "0.011")
    assert stopped.code != 0
    assert len(server.told) == 5  # of 0.002 USD each
    environment = os.environ | {"GSLOPES_KILL_AT": "answers:kept:1"}
    given = [*given, "--budget", "1"]
    command = [sys.executable, "-m", "gslopes", "audit", run, *given]
    killed = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert killed.returncode < 0
    done = gslopes("audit", run, *given)
    assert done.code == 0, done.err
    assert server.pictures == 8 * 7
    # the other scale's request may have been in flight when the process was killed
    assert server.marked.total() - len(server.marked) <= 1


@pytest.mark.slow
def test_a_judge_that_refuses_and_a_wrong_file_of_marks_are_told(server, gslopes, tmp_path):
    run = write_run(tmp_path / "run", 2, part=2)
    given = options(server, tmp_path / "cache", ",concurrency=1")
    server.refuses = True
    done = gslopes("audit", run, *given)
    assert done.code != 0
    assert "no such model" in done.err
    server.refuses = False
    assert gslopes("audit", run, *given).code == 0
    (run / "review.csv").write_text("text,warmth,competence,reviewer,note\na,9,1,ann,\n")
    wrong = gslopes("audit", run, *given)
    assert "line 2: warmth is '9'" in wrong.err
