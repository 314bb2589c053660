"""What `costs` takes and gives."""

from typing import Annotated

from msgspec import Meta, Struct, field


class CostsWanted(Struct, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=3650)] = 30


class DayCost(Struct, kw_only=True):
    """Calls of one day (UTC; `day` is its beginning). `cost_usd` null: no CLI named any money."""

    day: int = 0
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None


class Costs(Struct, kw_only=True):
    """`costs`. `last_day_calls` are those of the last 24 hours, against the caps."""

    days: list[DayCost] = field(default_factory=list)
    total: DayCost = field(default_factory=DayCost)
    last_day_calls: int = 0
    cap: int = 0
    hard_cap: int = 0
