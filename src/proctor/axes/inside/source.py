"""What `proctor.splice` says; in a box that very file stands in this one's place."""

from proctor.splice import HOLE, INCLUDE, Place, Spliced, splice

__all__ = ["HOLE", "INCLUDE", "Place", "Spliced", "splice"]
