"""What both SDKs' HTTP clients are made with: one set of trusted certificates, no redirects, bounded answers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from evalward.targets.models.bounded import UNCOMPRESSED, bounded_to, refuse_many_of_failure
from evalward.targets.models.settings import LiveSettings

if TYPE_CHECKING:
    import ssl


def client_options(settings: LiveSettings, most: int | None = None) -> dict[str, Any]:
    """The arguments of an SDK's `DefaultAsyncHttpxClient`. `most`: the bytes that it reads of an answer."""
    return {
        "follow_redirects": False,
        "timeout": settings.timeout_s,
        "headers": UNCOMPRESSED,
        "event_hooks": {"response": [bounded_to(most), refuse_many_of_failure]},
        "verify": _trusted(encrypted=not settings.base_url.lower().startswith("http:")),
    }


@cache
def _trusted(*, encrypted: bool) -> ssl.SSLContext:
    """The certificates that a server may show: the system's, read once per process, which takes 50 ms.

    A server that is asked without encryption shows none; where it is, nothing is trusted.
    """
    import ssl  # noqa: PLC0415 - loaded with the SDK, by whoever asks

    from httpx2 import create_ssl_context  # noqa: PLC0415

    return create_ssl_context() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
