;; Sends calls about descriptors that are ours to `wasi_calls.py`, and all others to WASI, which
;; works on the memory that its caller exports: so this exports Python's.
(module
  (type $four (func (param i32 i32 i32 i32) (result i32)))
  (type $one (func (param i32) (result i32)))
  (type $open (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (type $told (func (param i32 i32 i32)))

  (import "python" "memory" (memory 0))
  (import "front" "table" (table 4 funcref))
  (import "wasi" "fd_read" (func $wasi_read (type $four)))
  (import "wasi" "fd_write" (func $wasi_write (type $four)))
  (import "wasi" "fd_close" (func $wasi_close (type $one)))
  (import "wasi" "path_open" (func $wasi_open (type $open)))
  (import "desk" "fd_read" (func $desk_read (type $four)))
  (import "desk" "fd_write" (func $desk_write (type $four)))
  (import "desk" "fd_close" (func $desk_close (type $one)))
  (import "desk" "opened" (func $desk_opened (type $told)))

  (export "memory" (memory 0))
  ;; bit n: descriptor n is ours; at first the standard streams
  (global $mask (export "mask") (mut i64) (i64.const 7))

  (func $ours (type $one)
    (i32.and
      (i32.lt_u (local.get 0) (i32.const 64))
      (i32.wrap_i64 (i64.and (i64.const 1)
        (i64.shr_u (global.get $mask) (i64.extend_i32_u (local.get 0)))))))

  (func $read (type $four)
    (if (result i32) (call $ours (local.get 0))
      (then (call $desk_read (local.get 0) (local.get 1) (local.get 2) (local.get 3)))
      (else (call $wasi_read (local.get 0) (local.get 1) (local.get 2) (local.get 3)))))

  (func $write (type $four)
    (if (result i32) (call $ours (local.get 0))
      (then (call $desk_write (local.get 0) (local.get 1) (local.get 2) (local.get 3)))
      (else (call $wasi_write (local.get 0) (local.get 1) (local.get 2) (local.get 3)))))

  (func $close (type $one)
    (if (result i32) (call $ours (local.get 0))
      (then (call $desk_close (local.get 0)))
      (else (call $wasi_close (local.get 0)))))

  ;; descriptor 4 is the folder of the door: whoever opens something in it is told apart
  (func $open (type $open) (local $error i32)
    (local.set $error (call $wasi_open
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4)
      (local.get 5) (local.get 6) (local.get 7) (local.get 8)))
    (if (i32.and (i32.eqz (local.get $error)) (i32.eq (local.get 0) (i32.const 4)))
      (then (call $desk_opened (local.get 2) (local.get 3) (local.get 8))))
    (local.get $error))

  (elem (i32.const 0) $read $write $close $open))
