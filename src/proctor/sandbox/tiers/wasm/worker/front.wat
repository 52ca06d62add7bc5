;; What Python calls in place of some functions of WASI; it goes on through a table. Python has to be
;; there before what the table leads to (back.wat), because that needs Python's memory.
(module
  (type $four (func (param i32 i32 i32 i32) (result i32)))
  (type $one (func (param i32) (result i32)))
  (type $open (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (table (export "table") 4 funcref)
  (func (export "fd_read") (type $four)
    (call_indirect (type $four)
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (i32.const 0)))
  (func (export "fd_write") (type $four)
    (call_indirect (type $four)
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (i32.const 1)))
  (func (export "fd_close") (type $one)
    (call_indirect (type $one) (local.get 0) (i32.const 2)))
  (func (export "path_open") (type $open)
    (call_indirect (type $open)
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4)
      (local.get 5) (local.get 6) (local.get 7) (local.get 8) (i32.const 3))))
