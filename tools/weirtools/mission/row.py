"""The rows of the mission: each is a function that does what a user would do, and raises `Missing` where Weir falls short."""

import dataclasses
import typing

from weirtools.scenes.scene import Trouble as Missing, need  # noqa: F401

# The rows, by their numbers, in the order in which they are printed.
ROWS = {}


@dataclasses.dataclass
class Row:
    """One feature: its number, what a user gets, the command that shows it, and the function that tries it."""

    number: str
    sentence: str
    command: str
    attempt: typing.Callable
    is_quick: bool


def row(number, sentence, command, quick=True):
    """Adds the function below as a row. `quick`: it takes under three seconds, and is part of the tests."""

    def add(attempt):
        ROWS[number] = Row(number, sentence, command, attempt, quick)
        return attempt

    return add
