from __future__ import annotations

import numpy as np
import pytest

from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.packages import needed
from gslopes.core.errors import UsageError

PICTURE = np.full((120, 240, 3), 40, np.uint8)
PICTURE[30:90, 170:220] = (230, 170, 130)
PACKAGES = {"smartcrop": "smartcrop", "vips-attention": "pyvips", "vips-entropy": "pyvips"}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_crop_keeps_what_stands_out(name):
    pytest.importorskip(PACKAGES[name], reason=f"pip install 'gslopes[{name.split('-')[0]}]'")
    cropper = load_cropper(name)
    crop = cropper.crop(PICTURE, 1.0)
    assert cropper.version
    assert abs(crop.width - 120) <= 1
    assert abs(crop.height - 120) <= 1
    assert crop.left >= 90


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(UsageError, match=r"pip install 'gslopes\[nothing\]'"):
        needed("no_such_package_here", "nothing", "mine")
