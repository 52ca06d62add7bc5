# kinds: plain stdin unittest
# tiers: kernel docker portable
# seconds: 6
import subprocess
import sys


def double(x):
    program = [sys.executable, "-S", "-c", f"print(2 * {x})"]
    return type(x)(subprocess.run(program, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    print(double(int(input())))
