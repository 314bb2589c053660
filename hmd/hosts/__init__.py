"""One coding agent per file, pure: payload → Event, Verdict → what that host understands.

Loaded by every hook process: the kernel's import rule holds here too. An adapter is a plain
module with `HOST`, `event(payload, header, at)` (an Event or None) and `answer(verdict, event)`
(the object to print, or None).
"""
