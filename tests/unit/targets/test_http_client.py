"""What an SDK's HTTP client is made with."""

from __future__ import annotations

import ssl

import pytest

from evalward.targets.models.http_client import client_options
from evalward.targets.models.settings import LiveSettings


def trusted(url: str) -> ssl.SSLContext:
    context = client_options(LiveSettings("openai", "m", url, None))["verify"]
    assert isinstance(context, ssl.SSLContext)
    return context


@pytest.mark.parametrize("url", ["https://h/v1", "http://h/v1", "HTTP://h/v1"])
def test_a_server_has_to_show_a_certificate_of_its_name(url: str) -> None:
    assert trusted(url).verify_mode is ssl.CERT_REQUIRED
    assert trusted(url).check_hostname


def test_certificates_are_read_once_and_only_where_they_are_needed() -> None:
    shared = trusted("https://h/v1")
    assert trusted("https://other/v1") is shared
    assert trusted("http://h/v1") is not shared
    assert trusted("http://h/v1").cert_store_stats()["x509"] == 0
