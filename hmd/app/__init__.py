"""One use case a file: the only place that joins store, learning and recall."""
