"""Rewards, by a function that is named."""

from __future__ import annotations

import asyncio
from typing import Any

from slime.utils.misc import load_function


async def async_rm(args: Any, sample: Any, **options: Any) -> Any:
    return await load_function(sample.custom_rm_path or args.custom_rm_path)(args, sample, **options)


async def batched_async_rm(args: Any, samples: list[Any], **options: Any) -> list[Any]:
    if args.custom_rm_path is not None:
        listed: list[Any] = await load_function(args.custom_rm_path)(args, samples, **options)
        return listed
    return list(await asyncio.gather(*(async_rm(args, one, **options) for one in samples)))
