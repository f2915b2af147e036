"""A run folder of four small photos along two attributes, with placebos and sources; one sweep is dropped."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import placebo, tables
from gslopes.core.tables import SOURCES
from gslopes.faces.compose.encode import encode

VALUES = (-2.0, -0.6666667, 2.0)
DIGEST = "d" * 64


def row(table: tables.Table, **values: object) -> dict[str, object]:
    """A row of a table; what is not named is empty."""
    texts = [name for name in table.columns if table.schema.field(name).type == "string"]
    return {name: values.get(name, "" if name in texts else None) for name in table.columns}


def opened(path: Path) -> tuple[np.ndarray, dict[str, object]]:
    """The pixels of a picture and what else is in its file, as Pillow has it."""
    with Image.open(path) as image:
        return np.asarray(image).astype(int), {**image.info, **image.getexif()}


def picture(shade: int, form: str = "jpeg") -> bytes:
    ramp = np.linspace(0, 90, 24, dtype=np.uint8)
    pixels = np.repeat(np.add.outer(ramp, ramp)[..., None], 3, axis=2) + np.uint8(shade)
    pixels[..., 2] //= 2  # in colour
    return encode(pixels, False, None, form)  # type: ignore[arg-type]


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Makes the run folder; form: of its pictures."""

    def make(form: str = "jpeg") -> Path:
        run, photos = tmp_path / "run", tmp_path / "photos"
        photos.mkdir()
        recorded, edits, verdicts, sources = [], [], [], []
        for index in range(4):
            data = picture(index)
            (photos / f"p{index}.jpg").write_bytes(data)
            photo = sha256(data).hexdigest()
            about = {
                "path": f"p{index}.jpg",
                "width": 24,
                "height": 24,
                "status": "used",
                "faces": 1,
            }
            recorded.append(row(tables.PHOTOS, photo=photo, box=[2.0, 3.0, 12.0, 18.5], **about))
            sources.append(
                row(
                    SOURCES,
                    photo=photo,
                    title="A | title",
                    creator="É",
                    licence="CC BY 4.0" if index else "",
                )
            )
            for attribute in ("gender", "race"):
                reason = "the face was not found again" if (index, attribute) == (0, "race") else ""
                verdicts.append(
                    row(
                        tables.VERDICTS,
                        photo=photo,
                        attribute=attribute,
                        kept=not reason,
                        reason=reason,
                    )
                )
                for sweep in (attribute, placebo.name(attribute, "light")):
                    for step, value in enumerate(VALUES):
                        file = (
                            f"edits/{sweep}/{photo[:16]}-{step}.{'png' if form == 'png' else 'jpg'}"
                        )
                        (run / file).parent.mkdir(parents=True, exist_ok=True)
                        (run / file).write_bytes(picture(index + 20 * step + 5, form))
                        options = {
                            "photo": photo,
                            "attribute": sweep,
                            "step": step,
                            "value": value,
                            "file": file,
                        }
                        edits.append(row(tables.EDITS, mask_area=0.1, **options))
        for table, rows in (
            (tables.PHOTOS, recorded),
            (tables.EDITS, edits),
            (tables.VERDICTS, verdicts),
            (SOURCES, sources),
        ):
            frame = pd.DataFrame(rows, columns=list(table.columns))
            for name in table.columns:
                if frame[name].isna().all():
                    frame[name] = 0 if not table.schema.field(name).nullable else None
            tables.write(table, frame, run / f"{table.name}.parquet")
        models = {
            f"{name}-field": {"sha256": DIGEST, "licence": "research only"}
            for name in ("gender", "race")
        }
        config = {"photos": str(photos), "edit": {"model": ""}}
        manifest = {
            "seed": 0,
            "created": "2026-01-02T03:04:05+00:00",
            "config": config,
            "models": models,
            "values": dict.fromkeys(("gender", "race"), VALUES),
        }
        (run / "run.json").write_text(json.dumps(manifest))
        return run

    return make


@pytest.fixture
def run(make_run: Callable[..., Path]) -> Path:
    return make_run()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two photos of Ann, one of Bob, one of a person without a name."""
    path = tmp_path / "people.csv"
    path.write_text(
        "file,person,group,licence\np0.jpg,Ann,f,x\np1.jpg, Ann ,f,x\np2.jpg,Bob,m,y\np3.jpg,,,z\n"
    )
    return path


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """The library datasets, without network and with a separate cache."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return pytest.importorskip(
        "datasets", reason="datasets is not installed: pip install 'gslopes[test]'"
    )
