"""Words of the daemon side: errors, clock, configuration, changes, and a module per
noun with its rows and with what its methods take and give (memory, projects, facts, queue, ...).
"""
