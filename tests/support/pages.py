"""What a browser does with a page, as far as tests need it without one."""

from __future__ import annotations

import base64
import json
import zlib
from typing import cast


def unpacked(data: str) -> list[str]:
    """The texts of a trial's packed block."""
    return cast(list[str], json.loads(zlib.decompress(base64.b64decode(data, validate=True), -zlib.MAX_WBITS)))
