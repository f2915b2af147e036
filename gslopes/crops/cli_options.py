"""The options that several of ``gslopes crops``' commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gslopes.core.commands import PATH, trust_option


def numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    """The numbers of an option such as ``0.56,1``; a word that is none is a usage error."""
    if value is None:
        return None
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not numbers with commas between them.", ctx, param) from None


CROPPER = click.option(
    "--cropper",
    "-c",
    multiple=True,
    metavar="NAME",
    help="The cropper; may be repeated: spectral-residual, fine-grained, faces, centre, thirds, random, smartcrop, "
    "vips-attention, vips-entropy, http:URL, fastgaze:PATH, onnx:PATH, torchscript:PATH, python:MODULE:FUNCTION, "
    "replay:FILE. "
    "[default: spectral-residual]",
)


def who_and_where(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every audit of photos of people takes: them, their groups, a cropper and a run folder."""
    options = (
        click.argument("photos", type=PATH),
        click.option(
            "--people", type=PATH, required=True, metavar="CSV", help="Who is on each photo, and of which groups."
        ),
        click.option(
            "--groups", required=True, metavar="COLUMN,COLUMN", help="Columns of it to compare; several are crossed."
        ),
        click.option("--out", "-o", type=PATH, required=True, metavar="RUN", help="The run folder, made if missing."),
        CROPPER,
        trust_option,
        click.option(
            "--files", metavar="PATTERN", help="Where photos are, such as 'neutral/{id}.jpg', by the CSV's columns."
        ),
        click.option("--source", metavar="WORDS", help="How groups are known, such as self-reported. [default: given]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def how_joined(command: Callable[..., Any]) -> Callable[..., Any]:
    """How two photos become one picture, and in which orders."""
    options = (
        click.option(
            "--attach",
            type=click.Choice(["horizontal", "vertical", "none"]),
            help="How photos are joined. [default: horizontal]",
        ),
        click.option("--height", type=int, metavar="PX", help="Resize photos to this height before joining."),
        click.option("--max-side", type=int, metavar="PX", help="Reduce photos whose longer side is larger."),
        click.option("--gap", type=int, metavar="PX", help="Black pixels between photos. [default: 0]"),
        click.option("--jpeg", type=int, metavar="Q", help="Compress joined pictures as JPEG at this quality."),
        click.option(
            "--orders",
            type=click.Choice(["both", "left"]),
            help="Both orders, or the first group left. [default: both]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def what_is_asked(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is asked beside the pairs, and what is made of the answers."""
    options = (
        click.option("--policy", multiple=True, metavar="NAME", help="May be repeated. [default: argmax, sample]"),
        click.option("--temperature", type=float, metavar="T", help="Of the softmax. [default: by the model's unit]"),
        click.option(
            "--together", type=int, metavar="N", help="Also N pictures with one person of each group. [default: 0]"
        ),
        click.option(
            "--stability",
            type=int,
            metavar="N",
            help="Pictures asked about again after small edits; 0: none. [default: 24]",
        ),
        click.option(
            "--ties", type=click.Choice(["half", "first"]), help="How ties between maxima are split. [default: half]"
        ),
        click.option(
            "--symmetry",
            type=click.Choice(["program", "notebook", "saliency", "off"]),
            help="How mirror-symmetric pictures are detected. [default: program]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


EMBED = click.option(
    "--embed",
    type=click.Choice(["thumbs", "full", "none"]),
    default="thumbs",
    help="Pictures inside the page. [default: thumbs]",
)
RATIOS = click.option(
    "--ratios", metavar="R,R", callback=numbers, help="Height/width of the crops. [default: 0.56,1,1.14,2]"
)
DEVICE = click.option("--device", metavar="auto|cpu|cuda[:N]", help="Where the networks run. [default: auto]")
SEED = click.option("--seed", type=int, metavar="S", help="Seed of all random draws. [default: 0]")


def symmetric(command: Callable[..., Any]) -> Callable[..., Any]:
    """How pictures that are their own mirror image are found and cropped."""
    version = click.option(
        "--symmetry",
        type=click.Choice(["program", "notebook", "saliency", "off"]),
        default="program",
        help="How mirror-symmetric pictures are detected. [default: program]",
    )
    middle = click.option(
        "--symmetric-crop",
        type=click.Choice(["sideways", "both", "right"]),
        default="sideways",
        help="Where such a picture is cropped. [default: sideways]",
    )
    return version(middle(command))
