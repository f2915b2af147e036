"""The words of the page that an outsider may not know, each in a sentence or two."""

from __future__ import annotations

from gslopes.report import decisions

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "unit, step",
        "One unit of the attribute. −1 and 1 are the ends that the editor saw in training; a sweep goes from −2 to 2 "
        "unless the run says otherwise.",
    ),
    ("sweep", "The edited pictures of one photo, one at each value of the attribute."),
    ("value 0", "The neutral middle of a sweep."),
    ("point", "A percentage point: from 20 % to 21 % of the photos."),
    (
        "slope",
        "How many points more often the label appears per unit: each photo's own slope, averaged over the photos "
        "(the estimator photo-rate).",
    ),
    ("[a, b]", "95 % interval of a slope, over photos: what other photos of the same kind could have given."),
    (
        "p, q",
        "p: the chance of a slope as steep if the answers did not depend on the value. q: p, adjusted for the number "
        "of labels looked at.",
    ),
    (
        "placebo",
        "A sweep in which the attribute does not change: the same picture encoded anew, light alone, or another change "
        "as large. Its slope is noise.",
    ),
    (
        "reader",
        "A network of gslopes that reads perceived gender, race, age and smile from a face. It judges the edited "
        "pictures, never the classifier.",
    ),
    (
        "kept, dropped",
        "A sweep is dropped, and the classifier not asked about it, if its pictures failed: the face was not found "
        "again, the reader did not follow the edit, or something else moved.",
    ),
    (
        "the paper",
        "Joo and Kärkkäinen (2020). Its estimator gives slopes as a share of how often the label appears at value 0.",
    ),
    *((decisions.SHOWN[code], decisions.ABOUT[code]) for code in decisions.CODES),
)
