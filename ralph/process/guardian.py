"""Stand between ralph and one program; leave only when everything the program started is gone.

Run by path: `python -I -S guardian.py LIFE STATUS ORDER`, three descriptors; its own 0-2 are the program's. ORDER: one
marshalled tuple, there once LIFE says "go". LIFE then brings lines "WHAT SECONDS" (end, kill, hard, sweep; from now);
its end means "ralph is gone". STATUS takes report lines. C modules only: every start is paid (`signal`: 5 ms).
"""
# mypy: disable-error-code="assignment, func-returns-value, no-untyped-call, no-untyped-def, var-annotated"

import _ctypes
import _signal as signal  # type: ignore[import-not-found]  # no stubs
import marshal
import os
import select
import sys
import time

LAST_TERM_S, QUIET_S, DRAIN_S, ROUNDS, REPORTS, NEVER, ALL = 0.15, 0.2, 1.0, 2000, 200, 1e18, range(1, 32)
PRCTL = (36, 1), (4, 0), (1, signal.SIGCONT)  # adopt orphans, hide our memory, wake if stopped when ralph dies


def attempt(act, *args):
    """Return what the call returns, None where it fails: whoever left meanwhile is no error here."""
    try:
        return act(*args)
    except OSError:
        return None


def text(path: str) -> bytes:
    return attempt(lambda: open(path, "rb", 0).read(1 << 20)) or b""


class Guardian:
    """One program and its tree. code: None while it runs; *_at: awake seconds, set by orders; kept: by their names."""

    def __init__(self, life: int, status: int, *, keep: tuple[bytes, ...], grace_s: float, hard_at: float) -> None:
        self.life, self.status, self.keep, self.grace_s, self.hard_at = life, status, keep, grace_s, hard_at
        self.end_at = self.kill_at = self.sweep_at = NEVER
        self.pid, self.code, self.kept, self.seen = 0, None, [], set()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        self.bell, rope = os.pipe()  # rings when a child dies
        os.set_blocking(rope, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(rope, warn_on_full_buffer=False)
        for option, value in PRCTL if sys.platform == "linux" else ():
            _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen("", 0), "prctl"), (option, value, 0, 0, 0))

    def tell(self, *words: object) -> None:
        attempt(os.write, self.status, (" ".join(map(str, words)) + "\n").encode())

    def members(self) -> list[tuple[int, str]]:
        """Return (pid, hex comm) of all below us; those named in `keep`, with all below them, are `kept`."""
        found, todo, self.kept = [], [os.getpid()], []
        while todo and (up := todo.pop()):
            lists = [text(f"/proc/{up}/task/{tid}/children") for tid in attempt(os.listdir, f"/proc/{up}/task") or ()]
            for pid in map(int, b" ".join(lists).split()):
                name = text(f"/proc/{pid}/comm").strip()
                keeps = name in self.keep and pid != self.pid
                (self.kept if keeps else found).append((pid, name.hex()))
                todo += () if keeps else (pid,)
        return found

    def clear(self, quiet_s: float) -> None:
        """TERM, CONT, after quiet_s KILL, again and again until nobody is left; report who had to go."""
        quiet_until, numbers, wait_s = time.monotonic() + quiet_s, (signal.SIGTERM, signal.SIGCONT), 0.0
        for _ in range(ROUNDS):
            left, late = self.listen(wait_s), time.monotonic() >= min(quiet_until, self.kill_at)
            for pid, name in (found := self.members()):
                if pid not in self.seen and pid != self.pid and len(self.seen) < REPORTS:
                    self.seen.add(pid), self.tell("left", pid, name)
                _ = [attempt(os.kill, pid, number) for number in ((signal.SIGKILL,) if late else numbers)]
            if not found and (self.kept or not left):
                return
            numbers, wait_s = (), 0.005 if late else quiet_until - time.monotonic()

    def listen(self, wait_s: float) -> bool:
        """Wait for a death, an order or the time; take orders, collect the dead; False when no child is left at all."""
        poll, now = select.poll(), time.monotonic()
        _ = [poll.register(fd, select.POLLIN) for fd in (self.bell, self.life) if fd >= 0]
        for fd, _ in poll.poll(max(0, min(wait_s, 60)) * 1000):
            data = os.read(fd, 4096)
            for what, _, wait in (line.partition(" ") for line in data.decode().splitlines() if fd == self.life):
                setattr(self, f"{what}_at", now + float(wait))
            if not data:
                self.life, self.keep, self.sweep_at, self.end_at = -1, (), now, min(self.end_at, now + self.grace_s)
        while (done := attempt(os.waitpid, -1, os.WNOHANG)) and done[0]:
            self.code = os.waitstatus_to_exitcode(done[1]) if done[0] == self.pid else self.code
        return done is not None

    def run(self, path: bytes, argv: list[bytes], env: dict[bytes, bytes], opens: list[tuple[object, ...]]) -> None:
        files = [*opens, *((os.POSIX_SPAWN_CLOSE, fd) for fd in (self.life, self.status))]
        try:
            self.pid = os.posix_spawn(path, argv, env, file_actions=files, setsid=True, setsigmask=(), setsigdef=ALL)
        except OSError as error:
            sys.exit(self.tell("failed", error.errno))
        null, asked = os.open("/dev/null", os.O_RDWR), False
        self.tell("started", self.pid, *(os.dup2(null, mine) for mine in (0, 1, 2)))
        while self.code is None and (now := time.monotonic()):
            self.end_at = self.end_at if now < self.hard_at else min(self.end_at, self.hard_at + self.grace_s)
            if now >= self.end_at:
                self.clear(LAST_TERM_S)
            elif self.end_at < NEVER and not asked:  # at first the program and its group: it may end its own tools
                asked = [attempt(os.killpg, self.pid, number) for number in (signal.SIGTERM, signal.SIGCONT)]
            self.listen(min(self.end_at, max(self.hard_at, now + 1)) - now)
        self.tell("exit", self.code)
        self.sweep_at = min(self.sweep_at, time.monotonic() + DRAIN_S)  # until then ralph reads what is in the pipes
        while time.monotonic() < self.sweep_at:
            self.listen(self.sweep_at - time.monotonic())
        self.clear(QUIET_S)
        self.tell("over", sum(os.times()[2:4]), *(f"{pid}:{name}" for pid, name in self.kept))
        while self.kept and self.life >= 0 and self.listen(60):
            self.members()
        self.clear(QUIET_S)


if __name__ == "__main__":
    life, status, order = map(int, sys.argv[1:4])
    program, rules = marshal.load(open(order, "rb")) if os.read(life, 3) else os._exit(0)  # noqa: S302, SIM115 - ours
    os._exit(Guardian(life, status, **rules).run(*program) or 0)
