# kinds: plain check stdin unittest
# tiers: kernel docker contained portable
import asyncio


async def later(x):
    await asyncio.sleep(0.001)
    return x


def double(x):
    async def both():
        return sum(await asyncio.gather(later(x), later(x)))

    return asyncio.run(both())


if __name__ == "__main__":
    print(double(int(input())))
