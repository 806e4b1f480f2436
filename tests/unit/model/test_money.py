"""Money goes in and out exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from instinct_shell.errors import UsageError
from instinct_shell.model.money import dollars, parse_dollars


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "$0.00"), (10_000_000, "$10.00"), (1, "$0.000001"), (1_500_000, "$1.50"), (-2_500_000, "-$2.50"), (1_234_500, "$1.2345")],
)
def test_how_it_is_written(micros, text):
    assert dollars(micros) == text


@given(st.integers(0, 10**15))
def test_it_comes_back_exactly(micros):
    assert parse_dollars(dollars(micros)) == micros


@pytest.mark.parametrize(
    ("text", "micros"), [("10", 10_000_000), ("$0.5", 500_000), (" 1_000 ", 1_000_000_000), (".25", 250_000), ("3.", 3_000_000)]
)
def test_what_people_write(text, micros):
    assert parse_dollars(text) == micros


@pytest.mark.parametrize("text", ["", ".", "$", "-1", "+1", "1e3", "nan", "inf", "0.0000001", "1,5", "1.2.3", "ten", "٣", "1" * 11, "0x10"])
def test_what_is_no_amount(text):
    with pytest.raises(UsageError, match="is not an amount"):
        parse_dollars(text)
