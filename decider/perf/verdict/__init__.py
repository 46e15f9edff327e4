"""From the log-ratios of pairs of processes to a verdict on each cell.

`design` says what is tested and how strictly, `flips` which swaps of arms a pair's numbers are
judged by, `look` what the pairs so far say of every cell, `resolution` what they could have said,
`judgement` what is concluded; `summary` sums cells up. `noise` and `simulation` show the error
rates. Numbers in, judgements out: no files, no clock, no torch.
"""

from decider.perf.verdict.design import DEFAULT_DESIGN, Design
from decider.perf.verdict.judgement import Judgement, Verdict, judge, undecided

__all__ = ["DEFAULT_DESIGN", "Design", "Judgement", "Verdict", "judge", "undecided"]
