from gslopes.faces.zoo.loading import (
    LoadedModel as LoadedModel,
    build as build,
    load as load,
    load_folder as load_folder,
)
from gslopes.faces.zoo.spec import (
    ModelEntry as ModelEntry,
    ModelSpec as ModelSpec,
    editor_for as editor_for,
    identify as identify,
    list_models as list_models,
    read_spec as read_spec,
)
