"""The notebooks run from their first cell to their last; ``GSLOPES_NOTEBOOKS=write`` keeps what they print."""

import json
import os
import re
from pathlib import Path

import pytest

import gslopes

HERE = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((HERE / "notebooks").glob("*.ipynb"))

pytest.importorskip(
    "nbclient",
    reason="nbclient, which runs notebooks, is not installed: pip install 'gslopes[test]'",
)
pytest.importorskip(
    "ipykernel",
    reason="ipykernel, in which they run, is not installed: pip install 'gslopes[test]'",
)


def test_the_notebooks_are_numbered_from_one() -> None:
    assert sorted(int(path.name.partition("-")[0]) for path in NOTEBOOKS) == list(range(1, 12))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_imports_nothing_internal_and_names_no_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    lines = [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    imports = [line.strip() for line in lines if line.strip().startswith(("import ", "from "))]
    assert "import gslopes" in imports
    assert [line for line in imports if "gslopes" in line] == ["import gslopes"]
    used = {name for line in lines for name in re.findall(r"gslopes\.(\w+)\(", line)}
    assert used <= set(gslopes.__all__)
    assert not re.search(r"/root/|/home/|/tmp/", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_text_says_what_an_output_below_or_above_it_may_deny(path: Path) -> None:
    """What a label does is only in the outputs, which are made again with the program; the texts are not."""
    cells = [
        cell
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    ]
    does = r"(?:comes?|changes?|appears?|moves?|varies|does|is judged|(?:cannot|can) be judged|is (?:not )?a finding)"
    text = re.compile(rf"[*`](\w+)[*`],? (?:far |hardly |never )?{does}\b")
    assert [
        match.group() for cell in cells for match in text.finditer("".join(cell["source"]))
    ] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # from the kernel's client, not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_its_outputs_are_kept(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("GSLOPES_NOTEBOOK", str(work))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv(
        "MPLBACKEND", "module://matplotlib_inline.backend_inline"
    )  # figures are outputs
    monkeypatch.delenv("GSLOPES_PORTRAITS", raising=False)  # nobody's portrait is kept in an output
    notebook = nbformat.read(path, as_version=4)
    retained = [bool(cell.get("outputs")) for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]
    if os.environ.get("GSLOPES_NOTEBOOKS") == "write":
        for cell in notebook.cells:
            cell.get("metadata", {}).pop("execution", None)
        for cell in cells:  # no progress bars, no paths of this machine
            cell["outputs"] = [out for out in cell["outputs"] if out.get("name") != "stderr"]
        path.write_text(
            nbformat.writes(notebook).replace(work.as_uri(), "run").replace(str(work), "work")
            + "\n",
            "utf-8",
        )
        return
    assert not any(retained) or retained == [
        bool([out for out in cell["outputs"] if out.get("name") != "stderr"]) for cell in cells
    ]
