"""The stack of a module is moved behind its memory, and nothing else is changed."""

import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from proctor.sandbox.tiers.wasm.worker.enlarge_stack import (
    PAGE,
    STACK_BYTES,
    _number,
    _signed,
    _unsigned,
    enlarge_stack,
)


def run(module: bytes) -> int:
    store = wasmtime.Store()
    made = wasmtime.Instance(store, wasmtime.Module(store.engine, module), [])
    return made.exports(store)["top"](store)


@given(pages=st.integers(1, 3000), top=st.integers(0, (1 << 31) - 1), others=st.integers(0, 3))
def test_only_the_first_number_is_another(pages, top, others):
    more = "".join(f"(global (mut i64) (i64.const {n}))" for n in range(others))
    text = f"""(module (memory {pages}) (global $top (mut i32) (i32.const {top})) {more}
        (func (export "top") (result i32) (global.get $top)) (data (i32.const 0) "abc"))"""
    module = bytes(wasmtime.wat2wasm(text))
    assert run(enlarge_stack(module)) == pages * PAGE + STACK_BYTES
    assert enlarge_stack(enlarge_stack(module)) == enlarge_stack(module)


@pytest.mark.parametrize(
    "text",
    [
        "(module)",
        "(module (memory 1))",
        "(module (global (mut i32) (i32.const 1)))",
        "(module (memory 1) (global i32 (i32.const 1)))",
        "(module (memory 1) (global (mut i64) (i64.const 1)))",
    ],
)
def test_what_has_no_such_stack_stays_as_it_is(text):
    module = bytes(wasmtime.wat2wasm(text))
    assert enlarge_stack(module) == module


@given(st.integers(0, 1 << 40))
def test_numbers_are_written_as_they_are_read(value):
    data = _unsigned(value)
    assert _number(data, 0) == (value, len(data))
    signed = _signed(value)
    assert _number(signed, 0) == (value, len(signed))
    assert not signed[-1] & 64
