"""What runs in a worker of the wasm tier: wasmtime and the standard library, nothing of proctor.

There these files are modules of a bare package `worker`, hence the relative imports.
"""
