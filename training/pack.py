"""Pack the photos that the editors' recipes need, for a machine that has no copy of the set and a narrow way to it.

    python training/pack.py DATA pack.zip        here, where DATA/UTKFace is
    unzip pack.zip -d DATA                       there
    python -m gslopes train fader-gender-gpu --data DATA --device cuda

The files are the set's own, byte for byte, under their own names, so that each stays in its fold: the editors' fold and
the held-out tenth, without the faces that a chip does not hold. What the recipes need besides is in weights/.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gslopes.train import sets  # noqa: E402


def pack(data: Path, out: Path, device: str = "cpu") -> int:
    """Write the zip and return the number of its photos.

    data: the folder that holds ``UTKFace``.  device: where faces are found, if they are not in the cache yet.

    Raises: DataMissing if the set is not there.
    """
    chips = sets.utkface_fold(data, "editors", device)
    needed = [path for path, share in zip(chips.photos.paths, chips.outside, strict=True) if share <= sets.MOST_OUTSIDE]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:  # JPEGs do not get smaller
        for path in tqdm(needed, desc="pack", unit="photo"):
            file.write(path, f"UTKFace/{path.name}")
    return len(needed)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds UTKFace")
    parser.add_argument("out", type=Path, help="the zip to write")
    args = parser.parse_args()
    count = pack(args.data, args.out)
    sys.stdout.write(f"{args.out}: {count} photos, {args.out.stat().st_size / 2**20:.1f} MiB\n")


if __name__ == "__main__":
    main()
