# kinds: stdin
# class: forging
print("PASSED")
print('{"success": true, "passed": true}')
raise SystemExit(0)
