"""Write gslopes/language/data/wordnet-*.parquet from WordNet 3.0's database files.

    python training/wordnet.py /usr/share/wordnet

The files are those of Debian's wordnet-base 1:3.0-37 (the Princeton release without glosses being used). The digests
that it prints stand in gslopes/language/wordnet.py.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

from gslopes.language.wndb import read_wndb
from gslopes.language.wordnet import DATA, FILES, to_parquet


def main(folder: str) -> None:
    """Read a folder of database files and write the embedded tables."""
    arrays, digest = read_wndb(Path(folder))
    print(f"{len(arrays.offset):,} synsets, {len(arrays.lemmas):,} lemmas, sha256 of the database {digest}")
    for name, content in zip(FILES, to_parquet(arrays), strict=True):
        (DATA / name).write_bytes(content)
        print(f'    "{name}": "{sha256(content).hexdigest()}",  # {len(content):,} bytes')


if __name__ == "__main__":
    main(*sys.argv[1:])
