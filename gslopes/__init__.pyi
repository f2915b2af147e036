# What ``__init__.py`` imports when it is first used, for type checkers and editors.

from gslopes.ask.classifiers.in_memory import as_classifier as as_classifier
from gslopes.ask.editors.python import as_editor as as_editor
from gslopes.captions.audit import audit_captions as audit_captions
from gslopes.collect.census import census as census
from gslopes.collect.photos import collect_photos as collect_photos
from gslopes.contexts.audit import audit_contexts as audit_contexts
from gslopes.crops.audit import audit_crops as audit_crops
from gslopes.export import export as export
from gslopes.frame.result import load as load
from gslopes.slopes.audit import audit as audit
from gslopes.slopes.audit import score_photos as score_photos
from gslopes.slopes.audit import synthesise as synthesise
from gslopes.slopes.compare import compare_runs as compare_runs
from gslopes.slopes.demo import drawn_faces as drawn_faces
from gslopes.slopes.measures.frames import fit_slopes as fit_slopes
from gslopes.slopes.page import write_report as write_report

__version__: str
