"""Frames into files."""
