"""The server: settings, admission, batcher and HTTP app around an engine."""
