"""Numbers of the command line: one parser reads them all, and what is no number that makes sense is told."""

import click
import pytest

from gslopes.cli.main import main
from gslopes.core.config import MOST
from gslopes.frame.commands import Parsed

NONE = ["inf", "-inf", "nan", "1e400", "1e-400", "1e-320", "1e300", "0x10", "½", "٣", "１", "1,5"]
NONE += ["", " ", "option", "--1", "1e", "9" * 5000, "-" + "9" * 40]


def options(command: click.Command, path: str = "gslopes") -> list[tuple[str, click.Option]]:
    """Those that take numbers, of a command and of what is below it."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        inner = (command.get_command(context, name) for name in command.list_commands(context))
        return [
            pair for option in inner if option for pair in options(option, f"{path} {option.name}")
        ]
    numeric = {"N", "X", "USD", "K", "SECONDS"}
    return [
        (f"{path} {option.opts[0]}", option)
        for option in command.params
        if isinstance(option, click.Option) and option.metavar in numeric and not option.multiple
    ]


OPTIONS = dict(options(main))


def test_no_option_is_read_by_another_parser():
    assert len(OPTIONS) > 20
    others = {name for name, option in OPTIONS.items() if not isinstance(option.type, Parsed)}
    assert others == {"gslopes demo --faces"}  # from 30 to 240


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_no_number_is_told(name):
    option = OPTIONS[name]
    for text in NONE:
        with pytest.raises(click.BadParameter) as caught:
            option.type.convert(text, option, None)
        if isinstance(option.type, Parsed):
            assert f"{MOST:g}" in caught.value.message
            assert len(caught.value.message) < 200


@pytest.mark.parametrize(("text", "means"), [("1e3", 1000.0), ("-0", 0.0), ("1_000", 1000.0)])
def test_what_is_one_means_one_thing(text, means):
    value = OPTIONS["gslopes audit --budget"].type.convert(text, None, None)
    assert (value, str(value)) == (means, str(means))
