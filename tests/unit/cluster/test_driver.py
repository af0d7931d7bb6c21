"""The driver says in one line what is missing, and holds no key."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from evalward.cluster.bundle import BundleOrder, run_bundle
from evalward.cluster.driver import drive, unreachable
from evalward.cluster.orders import MOST_BUNDLES, ClusterError, ClusterEvent, ClusterOrder, bundles_of
from evalward.cluster.process import cluster_events, driver_environment


def order(folder: Path, address: str = "auto") -> ClusterOrder:
    return ClusterOrder(["--config", "a b.yml"], str(folder), str(folder), 3, None, address)


class Unreadable(ClusterOrder):
    def written(self) -> str:
        return "no order"


def test_orders_and_events__are_lines(tmp_path: Path) -> None:
    asked, event = order(tmp_path), ClusterEvent("failed", 2, 7, text="one\ntwo")
    assert (ClusterOrder.read(asked.written()), ClusterEvent.read(event.written())) == (asked, event)
    assert "\n" not in asked.written() + event.written()


@pytest.mark.parametrize(
    ("asked", "cpus", "units", "bundles"),
    [
        (None, 2, 100, 8),
        (None, 2, 5, 5),
        (None, 0, 100, 4),
        (None, 1000, 9999, MOST_BUNDLES),
        (3, 2, 100, 3),
        (9, 2, 5, 5),
    ],
)
def test_bundles__are_some_for_each_cpu_and_never_empty(asked: int | None, cpus: int, units: int, bundles: int) -> None:
    assert bundles_of(asked, cpus, units) == bundles


def test_without_ray__that_is_all_that_is_said(tmp_path: Path) -> None:
    said: list[ClusterEvent] = []
    drive(order(tmp_path), said.append, package="ray_of_another_name")
    assert said == [ClusterEvent("no-ray")]


def test_an_address_where_nothing_answers__is_found_before_ray_asks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert unreachable(address) == ""
    with socket.socket() as taken:  # and not listened on: else somebody else could have it
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert unreachable(address) == f"nothing answers at {address} (Connection refused)"
    assert unreachable("auto") == unreachable("ray://host:1") == ""
    assert "99999" in unreachable("127.0.0.1:99999")


def test_the_driver__gets_no_key() -> None:
    env = {"PATH": "/bin", "ANTHROPIC_API_KEY": "sk-1", "GATEWAY": "x", "RAY_ADDRESS": "a:1", "RAY_AUTH_TOKEN": "t"}
    assert driver_environment(env) == {"PATH": "/bin", "RAY_ADDRESS": "a:1", "RAY_AUTH_TOKEN": "t"}


def test_a_driver_that_ends_too_early__is_a_lost_cluster(tmp_path: Path) -> None:
    """Its order can't be read: it ends with a traceback, whose last line is the reason."""
    broken = Unreadable([], str(tmp_path), str(tmp_path), 1, None, "auto")
    with (
        pytest.raises(ClusterError, match=r"The Ray cluster was lost: .*JSONDecodeError.+\.$"),
        cluster_events(broken, {"PATH": "/bin"}) as events,
    ):
        list(events)


def test_a_folder_that_a_node_has_not__is_the_users_to_mend(tmp_path: Path) -> None:
    done = run_bundle(BundleOrder((), 1, 2, str(tmp_path / "gone")))
    assert f"{tmp_path / 'gone'}: there is no such folder on " in done.refused
    assert done.archive == b""
