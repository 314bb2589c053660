"""`make run`: hmd shown on a recorded session, with the real daemon and real hook processes."""
