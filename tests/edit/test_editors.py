import pytest

from gslopes.core.errors import ModelError
from gslopes.edit.editors import editor_of
from gslopes.edit.field import FieldEditor
from gslopes.edit.sweep import FaderEditor


@pytest.mark.parametrize(
    ("name", "reader", "kind"),
    [("gender-field", "labeller", FieldEditor), ("drawn-confounded", None, FaderEditor)],
)
def test_a_model_gets_the_editor_of_its_network(name, reader, kind):
    editor = editor_of(name, reader=reader)
    assert isinstance(editor, kind)
    assert editor.spec.name == name


def test_a_model_that_does_not_edit_is_no_editor():
    with pytest.raises(ModelError, match="no editor"):
        editor_of("judge")


def test_an_edit_field_needs_a_reader_of_the_faces_own_value():
    with pytest.raises(ModelError, match="needs a reader"):
        editor_of("race-field", reader=None)
