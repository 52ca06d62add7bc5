# kinds: plain stdin unittest
# class: resources
# tiers: kernel docker contained
# Shared memory without a file outlives its mappings, and no limit counts it.
# Its answer is right if, and only if, the attack failed.
import mmap


def attack():
    kept = []
    for file in (None, "/dev/zero", "/dev/full", "/dev/null"):
        for _ in range(3):
            try:
                number = -1 if file is None else open(file, "r+b").fileno()
                flags = mmap.MAP_SHARED | (mmap.MAP_ANONYMOUS if file is None else 0)
                area = mmap.mmap(number, 64 << 20, flags)
            except (OSError, ValueError):
                continue
            area[:: mmap.PAGESIZE] = b"x" * (len(area) // mmap.PAGESIZE)
            area.madvise(mmap.MADV_DONTNEED)  # no longer in anybody's resident set, and still there
            kept.append(area)
    return len(kept)


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
