from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import gslopes
from gslopes.export import provenance
from tests.export.conftest import opened, picture

EXT = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}"


def read_back(data: bytes) -> dict[str, str]:
    """The XMP of a picture, as Pillow has it."""
    with Image.open(io.BytesIO(data)) as image:
        packet = image.info["xmp"]
    packet = packet.encode() if isinstance(packet, str) else packet
    root = ElementTree.fromstring(packet.decode().strip("\x00"))
    return dict(next(one for one in root.iter() if one.tag.endswith("Description")).attrib)


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_a_picture_says_what_made_it_and_stays_the_same_picture(form):
    data = picture(7, form)
    model = 'a "model" <&> é'
    xmp = provenance.packet(tool="gslopes 1", model=model, version="0" * 64, attribute="gender", value=-2 / 3)
    marked = provenance.embed(data, xmp)
    found = read_back(marked)
    assert found[f"{EXT}DigitalSourceType"].endswith("/compositeWithTrainedAlgorithmicMedia")
    assert found[f"{EXT}AISystemUsed"] == model
    assert found[f"{EXT}AISystemVersionUsed"] == "0" * 64
    assert found[f"{EXT}AIPromptInformation"] == "gender -0.6667"
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(marked)) as after:
        assert np.array_equal(np.asarray(before), np.asarray(after))


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="neither"):
        provenance.embed(b"GIF89a", b"")


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_exported_edits_have_it_and_those_that_classifiers_are_asked_about_do_not(make_run, tmp_path, form):
    run = make_run(form)
    asked = {path: path.read_bytes() for path in run.glob("edits/*/*")}
    gslopes.export(run, "imagefolder", tmp_path / "out")
    files = [*(tmp_path / "out").glob("train/*/*.*g")]
    assert len(files) == 32
    for path in files:
        if path.stem == "original":
            assert "xmp" not in opened(path)[1]
        else:
            found = read_back(path.read_bytes())
            assert found[f"{EXT}DigitalSourceType"] == provenance.SOURCE_TYPE
            assert found[f"{EXT}AISystemUsed"] in path.parent.name.replace(path.parent.name[:17], "") + "-field"
    assert {path: path.read_bytes() for path in run.glob("edits/*/*")} == asked
    assert not any("xmp" in opened(path)[1] for path in asked)
