"""The foundation of every room: records, tables, errors, configuration, run folders."""
