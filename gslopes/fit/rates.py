"""How many photos got each label at each step of a sweep: the counts under every estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """One classifier's labels along the sweep of one attribute, over the photos answered at all K values.

    values: (K,) float64, increasing; the centre is the middle one.
    labels: (L,) str, every label that the classifier returned for this attribute, sorted.
    photos: n, how many photos were answered at all K values; the others drop out whole.
    counts: (L, K) int64, photos with the label at the step.
    active: (L,) int64, photos with the label at one step at least.
    """

    classifier: str
    attribute: str
    values: Array
    labels: NDArray[np.object_]
    photos: int
    counts: Integers
    active: Integers

    @property
    def shares(self) -> Array:
        """y_k, (L, K): the share of the n photos with the label at step k; 0 if there is no photo."""
        return np.asarray(self.counts / max(self.photos, 1), dtype=np.float64)

    @property
    def relative(self) -> Array:
        """z_k = y_k / y_c, (L, K); NaN for a label that no photo has at the centre."""
        centre = self.counts[:, [len(self.values) // 2]].astype(np.float64)
        relative: Array = np.divide(self.counts, centre, out=np.full(self.counts.shape, np.nan), where=centre > 0)
        return relative


def count(scores: pa.Table, asked: pa.Table, values: Mapping[str, Array]) -> list[Rates]:
    """Count labels, one result for each pair of classifier and attribute that has scores, in that order.

    A label counts for a picture if its row is there, whatever its score, and once if it is there twice.

    scores, asked: Arrow tables of the schemas in core.tables; ``asked`` decides which photos count.
    values: attribute to its (K,) values.

    Source: Joo & Kärkkäinen 2020, section 4.3.
    """
    cut = len(asked)
    codes = {name: _codes(asked.column(name), scores.column(name)) for name in ("classifier", "attribute", "photo")}
    (classifier, classifiers), (attribute, attributes), (photo, photos) = codes.values()
    label, labels = _codes(scores.column("label"))
    steps = [table.column("step").to_numpy().astype(np.int64) for table in (asked, scores)]
    answered = np.asarray(asked.column("status").to_numpy() == "answered", dtype=bool)
    pair = classifier * len(attributes) + attribute

    results = []
    for group in np.unique(pair[cut:]):
        name, edit = classifiers[group // len(attributes)], attributes[group % len(attributes)]
        here = np.flatnonzero(answered & (pair[:cut] == group))
        complete = _complete(photo[:cut][here], steps[0][here], len(photos), len(values[edit]))
        rows = np.flatnonzero(pair[cut:] == group)
        found, local = np.unique(label[rows], return_inverse=True)
        keep = complete[photo[cut:][rows]]
        present = presence(photo[cut:][rows][keep], local[keep], steps[1][rows][keep], len(found), len(values[edit]))
        results.append(_rates(name, edit, values[edit], labels[found], int(complete.sum()), present))
    return sorted(results, key=lambda rates: (rates.classifier, rates.attribute))


def presence(photo: Integers, label: Integers, step: Integers, labels: int, steps: int) -> sparse.csr_array:
    """A sparse (photos, labels * steps) matrix, one stored entry where the photo has the label at the step.

    photo, label, step: (rows,) codes from 0; column label * steps + step.
    """
    height = int(photo.max(initial=-1)) + 1
    ones = np.ones(len(photo), dtype=np.int32)
    # Built from coordinates, so that scipy merges a label that was returned twice for one picture.
    return sparse.coo_array((ones, (photo, label * steps + step)), shape=(height, labels * steps)).tocsr()


def _rates(
    classifier: str, attribute: str, values: Array, labels: NDArray[np.object_], n: int, present: sparse.csr_array
) -> Rates:
    size, width = len(labels), len(values)
    counts = np.bincount(present.indices, minlength=size * width).reshape(size, width)
    rows = np.repeat(np.arange(present.shape[0]), np.diff(present.indptr))
    anywhere = presence(rows, present.indices.astype(np.int64) // width, np.zeros_like(rows), size, 1)
    active = np.bincount(anywhere.indices, minlength=size)
    order = np.argsort(labels)
    return Rates(classifier, attribute, values, labels[order], n, counts[order], active[order])


def _complete(photo: Integers, step: Integers, photos: int, steps: int) -> NDArray[np.bool_]:
    """(photos,) whether the photo was answered at every one of the steps."""
    pairs = np.unique(photo * steps + step)
    return np.asarray(np.bincount(pairs // steps, minlength=photos) == steps, dtype=bool)


def _codes(*columns: pa.ChunkedArray) -> tuple[Integers, NDArray[np.object_]]:
    """The columns, one after the other, as (rows,) codes into (names,) the strings in them."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = pa.chunked_array(chunks, type=pa.string()).dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=object)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks]).astype(np.int64)
    return codes, np.array(encoded.chunk(0).dictionary.to_pylist(), dtype=object)
