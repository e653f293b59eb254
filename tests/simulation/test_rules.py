"""The table of rules is whole: a row for each value, and a value for each row that has one."""

from __future__ import annotations

from dataclasses import fields

from kafka_admin_proto.simulation.rules import SHIPPED, TABLE, TEXT, Rules


def test_each_rule_stands_once() -> None:
    names = [rule.name for rule in TABLE]
    assert len(set(names)) == len(names)
    assert {field.name for field in fields(Rules)} <= set(names)


def test_answers_without_values_have_none_in_both_columns() -> None:
    with_values = {field.name for field in fields(Rules)}
    for rule in TABLE:
        has_value = rule.name in with_values
        assert (rule.text.value is not None, rule.shipped.value is not None) == (has_value,) * 2
        assert rule.question
        assert rule.text.words
        assert rule.shipped.words
        assert rule.source


def test_values_differ_where_words_do() -> None:
    for rule in TABLE:
        if rule.text.value is not None:
            assert (rule.text.value == rule.shipped.value) == (
                rule.text.words == rule.shipped.words
            )


def test_the_columns() -> None:
    assert (TEXT.unequal_id, SHIPPED.unequal_id) == ("replace", "refuse")
    assert (TEXT.full_reconciles, SHIPPED.full_reconciles) == ("always", "migration")
