"""Networks: shapes in, shapes out, no files."""
