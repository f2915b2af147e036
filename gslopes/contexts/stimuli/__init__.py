"""The pictures: people cut out, backgrounds, composites."""
