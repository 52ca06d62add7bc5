"""Stands for `proctor.records.translation_unit`, whose text takes this file's place in a box."""

from proctor.records.translation_unit import HOLE, INCLUDE, FilledUnit, SourcePosition, fill_hole

__all__ = ["HOLE", "INCLUDE", "FilledUnit", "SourcePosition", "fill_hole"]
