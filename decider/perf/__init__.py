"""What is done with results. Reads files; never imports the engine, the server or torch."""
