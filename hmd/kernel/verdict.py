"""What a decision says, before any host's spelling of it."""

DENY, ASK = "deny", "ask"

# Enforcement levels, weakest first.
ADVISE, CONFIRM, SOFT_DENY, HARD_DENY = "advise", "confirm", "soft_deny", "deny"
LEVELS = (ADVISE, CONFIRM, SOFT_DENY, HARD_DENY)
STRENGTH = {ADVISE: 0, CONFIRM: 1, SOFT_DENY: 2, HARD_DENY: 3}

REASON_LIMIT = 600


class Fired:
    """One memory that took part. `level` is the level it was given at; `how` one of advised, asked,
    held, denied, passed (a hold repeated, so the agent overrode it); `key` the literal key."""

    __slots__ = ("how", "id", "key", "level")

    def __init__(self, memory_id: str, level: str, how: str, key: str) -> None:
        self.id = memory_id
        self.level = level
        self.how = how
        self.key = key


class Verdict:
    """An answer. Everything is empty where there is nothing to say.

    `decision` is deny or ask; `context` is for the model, `notice` one line for the user.
    `delivery` is none, before, before_downgraded (a question that nobody could answer became a
    hold) or with_result. `suppressed` lists (memory id, kind, reason). `automatic`: an automatic
    rule or a guard holds the call. `opaque`: the call hides what it runs and this says so.
    `repeat`: the event had been answered before.
    """

    __slots__ = (
        "automatic",
        "context",
        "decision",
        "delivery",
        "fired",
        "notice",
        "opaque",
        "reason",
        "repeat",
        "suppressed",
    )

    def __init__(self) -> None:
        self.decision = ""
        self.reason = ""
        self.context = ""
        self.notice = ""
        self.delivery = "none"
        self.fired: list[Fired] = []
        self.suppressed: list[tuple[str, str, str]] = []
        self.automatic = False
        self.opaque = False
        self.repeat = False

    @property
    def level(self) -> str:
        """The strongest level that was applied, or ""."""
        levels = [fired.level for fired in self.fired if fired.how != "passed"]
        return max(levels, key=lambda level: STRENGTH[level], default="")

    def plain(self) -> "list[str]":
        """What a repeated report of the same event needs: decision, reason, context, notice."""
        return [self.decision, self.reason, self.context, self.notice]
