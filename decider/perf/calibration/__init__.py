"""From measured forwards to the planner's overhead constant, and how far to trust it.

`measurement` holds cells; `grid_file`, `asv_results`, `table_file` and `sources` read them.
`replication`, `fit` and `goodness` are the statistics, `refusals` says when they prove nothing.
`policies` and `decision` judge a constant by the plans it makes. `calibration` puts the parts
together for `decider calibrate`; `report`, `plots` and `shipped_constant` carry its answer out.
"""
