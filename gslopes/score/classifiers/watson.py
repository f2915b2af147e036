"""``watson``: IBM Watson Visual Recognition, which the paper audited and IBM withdrew."""

from __future__ import annotations

from typing import NoReturn

from gslopes.core.errors import ServiceError
from gslopes.score.limits import ServiceOptions


class Watson:
    """Refuses: the service no longer exists. Recorded answers can be audited with ``replay``."""

    Options = ServiceOptions
    batch = 1
    version = ""

    def __init__(self, name: str, options: ServiceOptions, device: str = "cpu") -> None:
        del options, device
        self.name = name

    def prepare(self, *_: object) -> NoReturn:
        """Raises: ServiceError, always."""
        raise ServiceError(
            "IBM withdrew Watson Visual Recognition in December 2021; it can no longer be asked.",
            "Recorded answers can still be audited: replay:FILE.",
        )

    ask = parse = prepare
