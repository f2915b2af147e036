"""What reads the reference of Python sees a class below ``gslopes.core.frozen`` as the dataclass that it is."""

from typing import Any

from griffe import Class, ExprName, Extension

DATACLASS = ExprName("dataclass", parent=ExprName("dataclasses"))


class Frozen(Extension):
    """For griffe, which reads sources without running them."""

    def on_class_instance(self, *, cls: Class, **_: Any) -> None:
        """Put ``dataclass`` in the place of ours."""
        for decorator in cls.decorators:
            if str(decorator.value) in ("frozen", "frozen_identity"):
                decorator.value = DATACLASS
                cls.labels.add("dataclass")
