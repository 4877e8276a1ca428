"""The kinds of scripted runs: 22 in which work goes nowhere, 19 healthy ones that look like it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from benchmarks.scripted import GOAL, PLAIN, PLAN, TESTS, Did, Files, Healthy, Script, Stuck, growth, prose
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.suite import Verdict

ROUNDS = 12
"""Iterations of the stuck part: far more than any count."""
NOWHERE, TO_AND_FRO, RED = (Reason.NO_PROGRESS,), (Reason.OSCILLATION,), (Reason.TESTS_STUCK,)


def again(*states: Files, failing: tuple[str | None, ...] = (None,)) -> Script:
    """Return a script that goes round these states."""

    def script(_rng: Random) -> Iterator[Did]:
        for n in range(ROUNDS):
            yield Did(states[n % len(states)], failing[n % len(failing)])

    return script


def each(*, failing: str | None = None, claimed: bool = False) -> Script:
    """Return a script that writes something new each time."""

    def script(rng: Random) -> Iterator[Did]:
        for _ in range(ROUNDS):
            yield Did({f"src/{rng.getrandbits(40):010x}.py": prose(rng)}, failing, claimed=claimed)

    return script


def writing(path: str, text: str) -> Script:
    """Return a script that writes one file again each time; {n} in its text is the number of the time."""

    def script(_rng: Random) -> Iterator[Did]:
        for n in range(ROUNDS):
            yield Did({path: text.replace("{n}", f"{n:02}")})

    return script


def mode_only(_rng: Random) -> Iterator[Did]:
    for n in range(ROUNDS):
        yield Did(modes=(f"run{n}.sh",))


def line_ends(rng: Random) -> Iterator[Did]:
    texts = [prose(rng) for _ in range(ROUNDS)]
    yield Did({f"src/m{n}.py": text for n, text in enumerate(texts)})
    for n, text in enumerate(texts):
        yield Did({f"src/m{n}.py": text.replace("\n", "\r\n")})


def lock_order(rng: Random) -> Iterator[Did]:
    lines = prose(rng, 12).splitlines(keepends=True)
    for _ in range(ROUNDS):
        yield Did({"app.lock": "".join(rng.sample(lines, len(lines)))})


def fresh_comments(rng: Random) -> Iterator[Did]:
    one, other = prose(rng, 9), prose(rng, 9)
    for n in range(ROUNDS):
        yield Did({"src/core.py": (one if n % 2 else other) + f"# {rng.getrandbits(64):x}\n"})


def one_file(rng: Random) -> Iterator[Did]:
    one, other = prose(rng), prose(rng)
    for n in range(ROUNDS):
        yield Did({"src/flag.py": one if n % 2 else other, f"src/{rng.getrandbits(40):010x}.py": prose(rng, 12)})


def churn(rng: Random) -> Iterator[Did]:
    """Write three blocks and take each away again, one step at a time."""
    for _ in range(ROUNDS // 6):
        a, b, c = (prose(rng, 15) for _ in range(3))
        for text in (a, a + b, b, b + c, c, "# gone\n"):
            yield Did({"src/core.py": "x = 1\n" + text}, "a")


def skipping(finding: str) -> Script:
    """Return a script that gets green by touching the tests, and rests."""

    def script(rng: Random) -> Iterator[Did]:
        yield Did({"tests/test_a.py": prose(rng)}, "", finding=finding)
        for _ in range(ROUNDS):
            yield Did({}, "", finding=finding)

    return script


A, B, C, D, E = ({"src/core.py": f"{letter} = {n}\n" * 9} for n, letter in enumerate("abcde"))
STUCK: dict[str, Stuck] = {
    "nothing changes": Stuck(again({}), 3, NOWHERE),
    "empty commits": Stuck(again({"src/x.py": "x = 1\n"}), 4, NOWHERE),
    "log only": Stuck(writing("build.log", "line {n}\n"), 5, NOWHERE),
    "time stamp only": Stuck(writing("src/build.py", "# generated at 2026-01-02T03:04:{n}Z\nx = 1\n"), 6, NOWHERE),
    "mode only": Stuck(mode_only, 5, NOWHERE),
    "line ends only": Stuck(line_ends, 6, NOWHERE),
    "lock file only": Stuck(lock_order, 6, NOWHERE),
    "formatter flip-flop": Stuck(again({"src/f.py": "f(a,b)\n" * 9}, {"src/f.py": "f(a, b)\n" * 9}), 5, TO_AND_FRO),
    "A-B-A-B": Stuck(again(A, B), 5, TO_AND_FRO),
    "period three": Stuck(again(A, B, C), 6, TO_AND_FRO),
    "period five": Stuck(again(A, B, C, D, E), 8, TO_AND_FRO),
    "A-B-A-B with fresh comments": Stuck(fresh_comments, 5, TO_AND_FRO),
    "one file to and fro in growing work": Stuck(one_file, 5, TO_AND_FRO),
    "net-zero churn": Stuck(churn, 6, TO_AND_FRO, PLAN),
    "same failures while the diff grows": Stuck(each(failing="ab"), 5, RED, GOAL),
    "failing sets take turns": Stuck(
        again(*({f"s{n}": f"{n}"} for n in range(ROUNDS)), failing=("b", "c")), 4, TO_AND_FRO, GOAL
    ),
    "fix one, break one": Stuck(
        again(*({f"s{n}": f"{n}"} for n in range(ROUNDS)), failing=("b", "c", "d")), 6, TO_AND_FRO, GOAL
    ),
    "plan ticked without code": Stuck(writing("PLAN.md", "- [x] item {n}\n"), 5, NOWHERE),
    "tests skipped": Stuck(skipping("tests-skipped"), 3, NOWHERE, GOAL),
    "tests deleted": Stuck(skipping("tests-vanished"), 3, NOWHERE, GOAL),
    "runner narrowed": Stuck(skipping("runner-narrowed"), 3, NOWHERE, GOAL),
    "claims done with red checks": Stuck(each(failing="ab", claimed=True), 3, NOWHERE, PLAN),
    "idle answers": Stuck(again({}, failing=("ab",)), 3, (*NOWHERE, *RED), PLAN),
}


def research(rng: Random) -> Iterator[Did]:
    for _ in range(4):
        yield Did(read=rng.randint(8, 40))
    yield from growth(rng, 6)


def refactor(rng: Random) -> Iterator[Did]:
    names = sorted(TESTS)
    for n in range(len(names)):
        yield from growth(rng, 1, "".join(names[n:]))
    yield from growth(rng, 1, "")


def waiting(rng: Random) -> Iterator[Did]:
    for _ in range(3):
        yield from (Did(), Did())
        yield from growth(rng, 3)


def documents(rng: Random) -> Iterator[Did]:
    for n in range(ROUNDS):
        yield Did({f"docs/page{n % 3}.md": prose(rng, 12)})


def review(_rng: Random) -> Iterator[Did]:
    yield from (Did({}, "", claimed=True), Did({}, "", claimed=True))


def limited(rng: Random) -> Iterator[Did]:
    for _ in range(ROUNDS):
        yield Did(outcome=Outcome.QUOTA)
    yield from growth(rng, 4)


def slow_start(rng: Random) -> Iterator[Did]:
    yield Did()
    yield from growth(rng, 8)


def planning(rng: Random) -> Iterator[Did]:
    for n in range(3):
        yield Did({"PLAN.md": f"- [ ] {prose(rng, n + 2)}"})
    yield from growth(rng, 6)


def one_revert(rng: Random) -> Iterator[Did]:
    before = prose(rng)
    for text in (before, prose(rng), before):
        yield Did({"src/core.py": text})
    yield from growth(rng, 6)


def other_branch(rng: Random) -> Iterator[Did]:
    text = prose(rng)
    for branch in ("main", "topic", "main"):
        for n in range(3):
            yield Did({"src/core.py": text, f"src/{branch}{n}.py": prose(rng)}, branch=branch)


def dependencies(rng: Random) -> Iterator[Did]:
    for n in range(ROUNDS):
        yield Did({"requirements.txt": f"click==8.{n}.0\n", "app.lock": prose(rng, 20)})


def generated(rng: Random) -> Iterator[Did]:
    files = {f"src/gen{n}.py": prose(rng) for n in range(20)}
    yield Did(files)
    yield Did({path: text.replace(" = ", "  =  ") for path, text in files.items()})
    yield from growth(rng, 6)


def two_projects(rng: Random) -> Iterator[Did]:
    for n in range(ROUNDS):
        yield Did({f"{'web' if n % 2 else 'api'}/src/main.py": prose(rng, 12)})


def broken_tests(rng: Random) -> Iterator[Did]:
    for did in growth(rng, ROUNDS):
        yield Did(did.files, "", Verdict.BROKEN)


def flaky(rng: Random) -> Iterator[Did]:
    for n, did in enumerate(growth(rng, ROUNDS)):
        yield Did(did.files, "ah" if n % 2 else "a")


def said_flaky(rng: Random) -> Iterator[Did]:
    for n, did in enumerate(growth(rng, ROUNDS)):
        yield Did(did.files if n % 2 else {}, "a", Verdict.FLAKY)


def moving(rng: Random) -> Iterator[Did]:
    lines = prose(rng, 20).splitlines(keepends=True)
    for n in range(4):
        yield Did({"src/core.py": "".join(lines[n * 4 :] + lines[: n * 4])})
    yield from growth(rng, 6)


def rewriting(rng: Random) -> Iterator[Did]:
    for _ in range(ROUNDS):
        yield Did({"src/core.py": prose(rng, 40)})


def old_failure(rng: Random) -> Iterator[Did]:
    yield from growth(rng, 20, "h")


def stamped(rng: Random) -> Iterator[Did]:
    for n, did in enumerate(growth(rng, ROUNDS)):
        yield Did({**did.files, "src/version.py": f"built = '2026-01-{n + 1:02}'\n"})


HEALTHY: dict[str, Healthy] = {
    "long research": Healthy(research),
    "a refactor that keeps nearly everything red": Healthy(refactor, GOAL),
    "waiting for a job": Healthy(waiting),
    "documents only": Healthy(documents),
    "review only": Healthy(review, GOAL),
    "usage limits": Healthy(limited),
    "a slow start": Healthy(slow_start),
    "planning first": Healthy(planning),
    "one deliberate revert": Healthy(one_revert),
    "another branch and back": Healthy(other_branch),
    "dependency updates": Healthy(dependencies),
    "generated and formatted code": Healthy(generated),
    "two projects in turn": Healthy(two_projects),
    "tests that cannot run": Healthy(broken_tests, PLAN),
    "a flaky test beside a plan": Healthy(flaky, PLAN),
    "a suite known as flaky": Healthy(said_flaky, PLAN),
    "code that moves about": Healthy(moving, PLAIN),
    "one file written anew each time": Healthy(rewriting),
    "an old red test beside a plan": Healthy(old_failure, PLAN),
    "stamps beside work": Healthy(stamped),
}
