"""Verdicts: what they may never say."""

import pytest

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, UNTESTED, Finding, bounded_by_origin, spread

GOOD, BAD = Finding("1", REPRODUCED, "it held."), Finding("2", FAILED, "it did not.")


@pytest.mark.parametrize("finding", [GOOD, BAD])
def test_a_stand_in_tests_nothing(finding):
    judged = bounded_by_origin(finding, {"MSD stand-in": "standin", "MNIST": "mirror"})
    assert judged.verdict == UNTESTED and "MSD stand-in" in judged.why


def test_a_relative_supports_in_part_at_most():
    assert bounded_by_origin(GOOD, {"MNIST by writer": "relative"}).verdict == PARTLY
    assert bounded_by_origin(BAD, {"MNIST by writer": "relative"}).verdict == FAILED


@pytest.mark.parametrize("origin", ["synthetic", "publisher", "mirror", "package"])
def test_the_papers_own_data_leave_the_verdict_alone(origin):
    assert bounded_by_origin(GOOD, {"any": origin}) is GOOD


def test_spread_shows_median_and_range():
    assert spread([3.0, 1.0, 2.0]) == "2 [1, 3]"
    assert spread([1.0, 2.0, 3.0, 10.0]) == "2.5 [1, 10]"
    assert spread([5.0, 5.0]) == "5"
