"""Rows of the DeepCoder family, as their users' code treats them."""

from typing import Any


def process_input_output(inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """Give integer keys back to dictionaries that JSON forced to have string keys.

    It looks where such rows have dictionaries: the first argument, and the output or its first
    element. An output that is such a dictionary comes back in a list, as the callers of this
    function expect. A dictionary with any key that is not an integer is left as it is.
    """
    if isinstance(inputs, list) and inputs:
        inputs = [_integer_keys(inputs[0]), *inputs[1:]]
    if isinstance(outputs, dict):
        restored = _integer_keys(outputs)
        return inputs, outputs if restored is outputs else [restored]
    if isinstance(outputs, list) and outputs:
        outputs = [_integer_keys(outputs[0]), *outputs[1:]]
    return inputs, outputs


def _integer_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return {int(key): item for key, item in value.items()}
    except (TypeError, ValueError):
        return value
