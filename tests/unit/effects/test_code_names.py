"""The tables of library functions and the readers' actions must agree: no entry without a method."""

from __future__ import annotations

import pytest

from instinct_shell.effects.code_names import ACTIONS, METHODS
from instinct_shell.effects.other_code import Reader as CodeReader
from instinct_shell.effects.python_code import Reader as PythonReader
from instinct_shell.effects.python_names import FUNCTIONS


@pytest.mark.parametrize("action", sorted(set(FUNCTIONS.values())))
def test_each_python_action_has_a_method(action: str) -> None:
    assert action.startswith("decode ") or callable(getattr(PythonReader, "do_" + action, None))


@pytest.mark.parametrize("language", sorted(ACTIONS))
def test_each_action_of_the_other_languages_has_a_method(language: str) -> None:
    for action in ACTIONS[language].values():
        assert action.startswith("decode ") or callable(getattr(CodeReader, "do_" + action, None)), action
    assert set(METHODS) == set(ACTIONS)
