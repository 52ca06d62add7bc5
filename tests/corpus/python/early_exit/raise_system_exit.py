def double(x):
    raise SystemExit
