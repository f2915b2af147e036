"""Pack an editor's training set into one file, for a machine that has no copy of the photos and a narrow way to it.

    python training/pack.py gender-field DATA packed/gender-field.npz        here, where the data sets are
    python -m gslopes train gender-field --data packed --device cuda     there

The file holds the aligned chips as WebP with their labels, weights and split, so that nothing but the weights of the
recipe's model comes out of the machine. It holds photos of people: never commit it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gslopes.train import sets  # noqa: E402
from gslopes.train.training_set import write_packed  # noqa: E402
from gslopes.zoo.spec import find_spec  # noqa: E402


def pack(model: str, data: Path, out: Path, device: str = "cpu") -> int:
    """Write the file and return the number of its photos.

    model: an editor, such as ``gender-field``.  data: the folder that holds the data sets.
    device: where faces are found and read, if that is not in the cache yet.

    Raises: UnknownName, DataMissing.
    """
    spec = find_spec(model)
    return write_packed(sets.SETS["fader"](spec, data, device), out)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the editor, such as gender-field")
    parser.add_argument("data", type=Path, help="the folder that holds the data sets")
    parser.add_argument("out", type=Path, help="the file to write, PACKED/<model>.npz")
    args = parser.parse_args()
    count = pack(args.model, args.data, args.out)
    sys.stdout.write(f"{args.out}: {count} photos, {args.out.stat().st_size / 2**20:.1f} MiB\n")


if __name__ == "__main__":
    main()
