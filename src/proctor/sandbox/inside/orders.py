"""Orders to a keeper: most are the same again and again, and are read once."""

from typing import Any

from .frames import load

MAX_ORDERS = 64


class Orders:
    """The orders that may come again, by their headers."""

    def __init__(self) -> None:
        self._known: dict[bytes, dict[str, Any]] = {}

    def read(self, header: bytes) -> dict[str, Any]:
        """Return an order, the very same one if it came before."""
        order = self._known.get(header)
        if order is None:
            order = load(header)
            if _is_usual(order) and len(self._known) < MAX_ORDERS:
                self._known[header] = order
        return order

    def __contains__(self, order: dict[str, Any]) -> bool:
        """Say whether an order is one of those that may come again."""
        return any(order is known for known in self._known.values())


def _is_usual(order: dict[str, Any]) -> bool:
    """Say whether an order may come again, and holds nothing of a guest's that others could see."""
    if order["do"] in ("exchange", "case", "settle"):
        return True
    return order["do"] == "start" and "how" not in order
