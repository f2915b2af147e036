"""The foundation that every room stands on: records, tables, errors, configuration, run folders."""
