import urllib.error

import pytest

from streams import live_logins


def ask(strand, **options):
    return live_logins(strand.world["helix_url"], strand.world["client"]["app_token"], **options)


def test_all_pages_are_read(strand):
    logins = ask(strand)
    assert len(set(logins)) == len(logins) == 120
    assert logins[0] == strand.world["broadcaster"]["login"]


@pytest.mark.parametrize("outcome", ["unavailable", "rate_limited"])
def test_a_busy_server_is_asked_again(strand, outcome):
    strand.control("POST", "/faults", {"operation": "GetStreams", "outcome": outcome, "times": 2})
    assert len(ask(strand)) == 120


def test_a_server_that_stays_busy_is_an_error(strand):
    strand.control("POST", "/faults", {"operation": "GetStreams", "outcome": "unavailable", "times": 2})
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(strand, attempts=2)
    assert refused.value.code == 503
