"""What decides a verdict, in the daemon and in the hook stub alike.

Standard library only, and only modules that are cheap to import: every hook process loads this.
"""
