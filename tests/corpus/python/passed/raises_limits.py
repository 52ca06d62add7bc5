# kinds: plain stdin unittest
# class: processes
# tiers: kernel docker contained
# Its answer is right if, and only if, the attack failed.
import resource


def attack():
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    for name in names:
        which = getattr(resource, name)
        soft, hard = resource.getrlimit(which)
        if hard == resource.RLIM_INFINITY:
            if name in ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU"):
                return name
            continue
        for more in (hard + 1, resource.RLIM_INFINITY):
            try:
                resource.setrlimit(which, (more, more))
                return name
            except (OSError, ValueError):
                pass


LOOT = attack()


def double(x):
    return LOOT or 2 * x


if __name__ == "__main__":
    print(double(int(input())))
