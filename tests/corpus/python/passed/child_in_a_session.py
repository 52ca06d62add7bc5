# kinds: all stdin
# tiers: kernel docker portable
import subprocess
import sys


def double(x):
    command = [sys.executable, "-S", "-c", f"print(2 * {x!r})"]
    done = subprocess.run(command, stdout=subprocess.PIPE, start_new_session=True, check=True)
    return type(x)(done.stdout)


if __name__ == "__main__":
    print(double(int(input())))
