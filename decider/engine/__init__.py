"""The engine: a model, its backends and its readout. Knows the grid; knows no costs or queues."""
