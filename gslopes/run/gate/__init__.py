"""The gate: each photo's sweep is judged before any classifier sees it."""
