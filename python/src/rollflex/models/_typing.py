"""What `typing` has only since Python 3.11."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
else:

    class NotRequired:
        """Stands in annotations only, where a key may be missing."""

        def __class_getitem__(cls, item):
            return item


__all__ = ["NotRequired", "TypedDict"]
