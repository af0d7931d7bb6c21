"""Can the hosts of the configured models be reached? Asked without a key, and nothing that they say is followed."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from evalward import __version__
from evalward.records.checkup import CheckupItem, CheckupStatus

SECONDS = 5.0
MOST_AT_ONCE = 8
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_REMEDY = "Check the network, a proxy (HTTPS_PROXY) and certificates (SSL_CERT_FILE)."


def network_items(hosts: Mapping[str, str], env: Mapping[str, str], *, needed: bool) -> list[CheckupItem]:
    """One request to each host, all at once. `hosts`: addresses by their use. `needed`: by a configuration."""
    addresses: dict[str, list[str]] = {}
    for name, url in hosts.items():
        addresses.setdefault(_origin(url), []).append(name)
    if not addresses:
        return [_item("hosts", "note", "no target of the configuration asks a model")]
    with ThreadPoolExecutor(max_workers=MOST_AT_ONCE) as pool:
        reached = pool.map(lambda found: _reached(found[0], found[1], env), addresses.items())
        return [_less(item) if not needed else item for item in reached]


def _less(item: CheckupItem) -> CheckupItem:
    """What can't be reached is only worth a look where no configuration needs it."""
    return item.model_copy(update={"status": "warning"}) if item.status == "missing" else item


def _origin(url: str) -> str:
    """Scheme, host and port, without a user's name and without a path, which may hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _reached(origin: str, names: list[str], env: Mapping[str, str]) -> CheckupItem:
    import requests  # noqa: PLC0415 - only who asks for the network pays for it

    certificates = next((env[name] for name in CERTIFICATES if env.get(name)), True)
    proxies = requests.utils.get_environ_proxies(origin, no_proxy=None)
    with requests.Session() as session:
        session.trust_env = False  # or the user's .netrc would be sent
        session.headers["User-Agent"] = f"evalward/{__version__}"
        try:
            answer = session.head(
                origin, timeout=SECONDS, allow_redirects=False, proxies=proxies, verify=certificates, stream=True
            )
        except (requests.RequestException, OSError, ValueError) as error:
            return _item(origin, "missing", f"{', '.join(names)}: {_why(error)}", _REMEDY)
    how = " through a proxy" if urlsplit(origin).scheme in proxies else ""
    return _item(origin, "ok", f"{', '.join(names)}: reached{how} (HTTP {answer.status_code}, no key sent)")


def _why(error: Exception) -> str:
    """What kind of failure it is. The library's own words name addresses, also a proxy's with its password."""
    import requests  # noqa: PLC0415

    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy can't be reached, or refuses"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not trusted here"
    if isinstance(error, requests.exceptions.Timeout):
        return f"no answer within {SECONDS:.0f} s"
    if "NameResolution" in repr(error):
        return "its name can't be resolved"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return "the address can't be asked"


def _item(name: str, status: CheckupStatus, text: str, remedy: str = "") -> CheckupItem:
    return CheckupItem(group="network", name=name, status=status, text=text, remedy=remedy)
