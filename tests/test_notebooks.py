"""The notebooks run from their first cell to their last; ``GSLOPES_NOTEBOOKS=write`` keeps what they print."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((HERE / "notebooks").glob("*.ipynb"))

pytest.importorskip("nbclient", reason="The notebooks are executed by nbclient, of gslopes[test].")
pytest.importorskip("ipykernel", reason="The notebooks run in ipykernel, of gslopes[test].")


def test_there_are_four_notebooks() -> None:
    assert [path.name[0] for path in NOTEBOOKS] == ["1", "2", "3", "4"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the kernel's client, not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_its_outputs_are_kept(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("GSLOPES_NOTEBOOK", str(work))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    book = nbformat.read(path, as_version=4)
    kept = [bool(cell.get("outputs")) for cell in book.cells if cell.cell_type == "code"]
    NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]
    if os.environ.get("GSLOPES_NOTEBOOKS") == "write":
        for cell in book.cells:
            cell.get("metadata", {}).pop("execution", None)
        for cell in cells:  # no progress bars, no paths of this machine
            cell["outputs"] = [out for out in cell["outputs"] if out.get("name") != "stderr"]
        nbformat.write(book, path)
        return
    assert kept == [bool([out for out in cell["outputs"] if out.get("name") != "stderr"]) for cell in cells]
