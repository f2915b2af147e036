"""What people write instead of a name: files of other libraries, models by their bare names, addresses."""

import re

import pytest

from gslopes.ask.classifiers import canonical_name, load_classifier
from gslopes.ask.croppers import load_cropper
from gslopes.core.errors import ConfigError, ModelError, UnknownName

ONNX = "Then onnx:{0},labels=FILE"


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        (
            "m.tflite",
            f"python -m tf2onnx.convert --tflite m.tflite --output m.onnx. {ONNX}".format("m.onnx"),
        ),
        ("a/m.keras", "keras.saving.load_model('a/m.keras').export('a/m.onnx', format='onnx')"),
        ("m.h5", "keras.saving.load_model('m.h5').export('m.onnx', format='onnx')"),
        (
            "m.pb",
            "tf2onnx.convert --graphdef m.pb --inputs INPUT:0 --outputs OUTPUT:0 --output m.onnx",
        ),
        ("m.mlmodel", "o.save_model(o.convert_coreml(c.utils.load_spec('m.mlmodel')), 'm.onnx')"),
        ("m.mlpackage", "in a function of yours, and name that: mine.py:classify"),
        ("m.joblib", "in a function of yours, and name that: mine.py:classify"),
        ("m.pth", "torchvision:resnet18,weights=m.pth,labels=FILE"),
        ("m.pt", "torchscript:m.pt,labels=FILE,size=PIXELS"),
    ],
)
def test_a_file_of_another_library_gets_the_command_that_converts_it(file, remedy):
    for load in (load_classifier, load_cropper):
        for name in (file, f"{file},labels=labels.txt"):
            with pytest.raises(
                ModelError, match=re.escape(f"{file} is no file that gslopes runs.")
            ) as error:
                load(name)
            assert remedy in error.value.hint


def test_a_saved_model_is_a_folder_also_where_onnx_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/saved_model.pb").write_bytes(b"x")
    for name in ("mine", "mine/saved_model.pb"):
        with pytest.raises(ModelError, match=r"--saved-model mine --output mine\.onnx"):
            load_classifier(name)
    (tmp_path / "m.tflite").write_bytes(b"TFL3")
    (tmp_path / "labels.txt").write_text("a\n")
    with pytest.raises(
        ModelError, match=r"onnxruntime cannot load m\.tflite.*--tflite m\.tflite --output m\.onnx"
    ):
        load_classifier("onnx:m.tflite,labels=labels.txt")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("resnet18", "Write torchvision:resnet18."),
        ("test_resnet.r160_in1k,top_k=3", "Write timm:test_resnet.r160_in1k."),
        ("google/vit-base-patch16-224", "written transformers:google/vit-base-patch16-224."),
        ("localhost:8000/predict", "written http:http://localhost:8000/predict."),
        ("localhost/predict", "written http:http://localhost/predict."),
        ("127.0.0.1:5000", "written http:http://127.0.0.1:5000."),
        ("gpu-box:5000/judge", "written http:https://gpu-box:5000/judge."),
        ("api.example.com/v1", "written http:https://api.example.com/v1."),
        ("celeba-tager", "Did you mean 'celeba-tagger'?"),
        ("nothing-at-all", "Known: azure, celeba-tagger,"),
    ],
)
def test_a_name_that_no_classifier_has_gets_the_one_that_is_meant(name, remedy):
    with pytest.raises(UnknownName, match="There is no classifier named") as error:
        load_classifier(name)
    assert remedy in error.value.hint


def test_a_folder_of_transformers_is_named_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit").mkdir()
    (tmp_path / "vit/config.json").write_text("{}")
    with pytest.raises(UnknownName, match="written transformers:vit"):
        load_classifier("vit")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/judge", "https://host.example/judge"])
def test_an_address_given_alone_is_an_endpoint_of_one_name(url):
    assert canonical_name(url) == canonical_name(f"http:{url}") == f"http:{url}"
    assert load_cropper(url).name == load_cropper(f"http:{url}").name


@pytest.mark.parametrize("url", ["localhost:8000/x", "/localhost:8000/x"])
def test_an_address_without_a_scheme_gets_one(url):
    with pytest.raises(
        ConfigError, match=r"needs an address with its scheme.* Write http:http://localhost:8000/x"
    ):
        load_classifier(f"http:{url}")
