"""The head of a comparison: its outcome, on what it rests, and how to make it again."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import Any

from decider.perf.comparison.document import VERDICTS, Document
from decider.perf.report.compared.words import OUTCOMES, SIGNS, is_void, signed
from decider.perf.report.quantities import counted

SELF_TEST = "decider compare --self-test"
NO_SELF_TEST = "This machine has no self-test: how often it raises a false alarm is not known."
FACTS = ("cpu", "num_cpu", "gpu", "driver", "ram", "os", "python", "torch")


@dataclass(frozen=True)
class Side:
    """A commit that was compared: the name it was given, its hash, subject and date."""

    role: str
    name: str
    commit: str
    subject: str
    date: str


@dataclass(frozen=True)
class SelfTest:
    """What the newest self-test found, or that there is none; and of what it is, as recorded."""

    sentence: str
    source: str = ""


@dataclass(frozen=True)
class Headline:
    """What stands at the top.

    Attributes:
        outcome: in a few words; `kind` is its name in the document.
        sentence: the verdict in one sentence.
        void: why no verdict counts; None where they do.
        counts: sign, verdict and number of cells, all six verdicts.
        sides: base, then head.
        facts: name and value: the run, and what head was measured on.
        differs: what the sides were measured on where it differs: name, base, head.
        self_test: what the newest self-test of the machine found, or that there is none.
        commands: what makes the comparison again, and the self-test where there is none.
    """

    kind: str
    outcome: str
    sentence: str
    void: str | None
    counts: tuple[tuple[str, str, int], ...]
    sides: tuple[Side, Side]
    facts: tuple[tuple[str, str], ...]
    differs: tuple[tuple[str, str, str], ...]
    self_test: SelfTest
    commands: tuple[str, ...]

    @property
    def line(self) -> str:
        """Outcome and sentence in one line, where the sentence does not begin with the outcome."""
        if self.void is not None:
            return self.outcome
        beginnings = (self.outcome, "Worse") if self.kind == "regression" else (self.outcome,)
        if self.sentence.startswith(beginnings):
            return self.sentence
        return f"{self.outcome}: {self.sentence}"


def headline(document: Document) -> Headline:
    """The head of the comparison in `document`."""
    kind = "void" if is_void(document) else document["outcome"]["name"]
    return Headline(
        kind,
        OUTCOMES[kind],
        document["outcome"]["sentence"],
        (document["void"] or "its outcome says so") if is_void(document) else None,
        counts(document),
        (_side(document, "base"), _side(document, "head")),
        tuple(_facts(document)),
        tuple((d["name"], shown(d["base"]), shown(d["head"])) for d in document["differs"]),
        self_test(document),
        commands(document),
    )


def counts(document: Document) -> tuple[tuple[str, str, int], ...]:
    """Sign, verdict and number of cells; counted from the cells themselves."""
    found = Counter(cell["verdict"] for cell in document["cells"])
    return tuple((SIGNS[verdict], verdict, found[verdict]) for verdict in VERDICTS)


def self_test(document: Document) -> SelfTest:
    """How often the machine raises a false alarm, as its newest self-test found."""
    test = document["self_test"]
    if test is None:
        return SelfTest(NO_SELF_TEST)
    unchanged, delayed = test["unchanged"], test["delayed"]
    level = f"{100 * test['confidence']:.3g}%"
    alarms = (
        f"{unchanged['alarms']:,} of {counted(unchanged['runs'], 'unchanged run')} raised an alarm"
        f"{_bound('at most', unchanged['high'], level)}"
    )
    found = (
        f"a delay of {100 * delayed['delay']:.3g}% was found in {delayed['found']:,} of "
        f"{delayed['runs']:,}{_bound('at least', delayed['low'], level)}"
    )
    other = test["machine"] != document["machine"] or test["profile"] != document["profile"]
    warning = " It is of another machine or profile than this run." if other else ""
    source = f"{test['machine']}, commit {test['commit'][:8]}, profile {test['profile']}, "
    return SelfTest(f"Self-test: {alarms}; {found}.{warning}", source + test["made"])


def commands(document: Document) -> tuple[str, ...]:
    """What makes the comparison again, and the self-test where the machine has none."""
    sides = [document[side]["commit"][:12] for side in ("base", "head")]
    rebuilt = shlex.join(["decider", "compare", *sides])
    command = _checked(document["command"], rebuilt)
    return (command,) if document["self_test"] else (command, SELF_TEST)


def shown(value: Any) -> str:
    """A value of any kind for people."""
    return "not known" if value in (None, "") else str(value)


def _checked(command: str, otherwise: str) -> str:
    """A stranger's command as one that a reader can copy: `decider compare` and quoted words, or
    what is known to be harmless."""
    try:
        words = shlex.split(command)
    except ValueError:
        return otherwise
    if words[:2] != ["decider", "compare"] or not all(word.isprintable() for word in words):
        return otherwise
    return shlex.join(words)


def _side(document: Document, role: str) -> Side:
    side = document[role]
    return Side(role, side["name"], side["commit"], side["subject"], side["date"])


def _facts(document: Document) -> list[tuple[str, str]]:
    design = document["design"]
    looks = ", ".join(f"{look}" for look in design["looks"])
    budget = document["budget_seconds"]
    complete = sum(pair["complete"] for pair in document["pairs"])
    facts = [
        ("machine", document["machine"]),
        ("profile", document["profile"]),
        ("compared", document["made"]),
        ("pairs", f"{len(document['pairs']):,}, of them {complete:,} complete"),
        ("planned looks, in pairs", looks),
        ("taken looks", ", ".join(map(str, document["looks_taken"])) or "none"),
        ("time", _minutes(document["spent_seconds"])),
        ("budget", "none" if budget is None else _minutes(budget)),
        ("margin of unchanged", f"±{signed(design['margin']).lstrip('+')}"),
        ("level of alarms", f"{design['alarm_level']:.3g}, over all cells and looks"),
        ("control", _control(document)),
    ]
    environment = document["head"]["environment"] or document["base"]["environment"]
    order = [name for name in FACTS if name in environment]
    order += [name for name in environment if name not in FACTS and name != "machine"]
    return facts + [(name, shown(environment[name])) for name in order]


def _control(document: Document) -> str:
    control = document["control"]
    if control is None:
        return "not measured"
    change = signed(control["change"])
    return f"{control['verdict']}{f' ({change})' if change else ''}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:,.1f} min"


def _bound(word: str, share: float | None, level: str) -> str:
    return "" if share is None else f" ({word} {100 * share:.3g}% at {level} confidence)"
