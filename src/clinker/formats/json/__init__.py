"""JSON files: arrays, objects, and lines of them (NDJSON)."""
