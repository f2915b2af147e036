# gslopes try async_generator.py
import asyncio


async def stream(images):
    for image in images:
        await asyncio.sleep(0)
        yield {"red": image[..., 0].mean() / 255}
