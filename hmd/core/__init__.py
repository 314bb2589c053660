"""Words of the daemon side: errors, clock, configuration, model, changes."""
