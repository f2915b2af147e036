"""Of what every audit promises, the dearest is shown of two audits; the others are slow."""

import pytest

DEAR = {
    "test_stopped_by_ctrl_c_it_goes_on",
    "test_parts_made_from_other_tables_are_not_used",
    "test_a_table_that_was_removed_or_damaged_is_made_again",
    "test_a_damaged_part_is_made_again",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        spec = getattr(item, "callspec", None)
        if (
            getattr(item, "originalname", "") in DEAR
            and spec
            and spec.params.get("name") not in ("captions", "audit")
        ):
            item.add_marker(pytest.mark.slow)
