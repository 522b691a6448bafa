"""What Python sees of libheddle is what 'heddle sim --json' prints."""
import json
import signal
import subprocess
import sys
import threading

import heddle

program, pandas = sys.argv[1], sys.argv[2]


def check(claim, holds):
    if not holds:
        sys.exit("FAILED: " + claim)


def raises(kind, call, words):
    try:
        call()
    except kind as error:
        check("'%s' in '%s'" % (words, error), words in str(error))
        return error
    sys.exit("FAILED: no " + kind.__name__)


# Every table, cell by cell.
shown = json.loads(subprocess.run(
    [program, "sim", "x.yaml", "--json", "--seed", "2"],
    stdout=subprocess.PIPE, check=True).stdout)["tables"]
run = heddle.run("x.yaml", {"run.seed": 2})
check("the same tables", set(run.tables) == set(shown))
for name in run.tables:
    theirs = shown[name]
    theirs = theirs["rows"] if "rows" in theirs else [theirs["values"]]
    for mine, row in zip(run.rows(name), theirs):
        for column, value in row.items():
            check("%s of %s: %r, %r" % (column, name, mine[column], value),
                  mine[column] == value or
                  isinstance(value, float) and
                  abs(mine[column] - value) <= 1e-12 * abs(value))
    check("rows of " + name, len(run.rows(name)) == len(theirs))
check("a unit", run.units("traffic")["p99"] == "us")
check("other seeds differ",
      heddle.run("x.yaml", {"run.seed": 3}).checksum != run.checksum)
check("the same text", heddle.run_text(open("x.yaml").read(),
                                       {"run.seed": 2}).checksum ==
      run.checksum)

# With pandas a frame, without it rows.
table = run.table("traffic")
if pandas == "none":
    check("rows", table == run.rows("traffic"))
    raises(ImportError, lambda: run.frame("traffic"), "pandas")
else:
    check("a frame", type(table).__name__ == "DataFrame")
    check("its columns", list(table.columns) == list(run.rows("traffic")[0]))
    check("its values",
          list(table["p99"]) == [row["p99"] for row in run.rows("traffic")])
    check("its units", table.attrs["units"]["p99"] == "us")

# Refusals.
error = raises(heddle.Refused, lambda: heddle.run("bad.yaml"),
               "bad.yaml:2:1: unknown field 'trafic'")
check("its place", (error.line, error.column) == (2, 1))
raises(heddle.Refused, lambda: heddle.run("nowhere.yaml"), "nowhere.yaml")
raises(heddle.Misuse, lambda: heddle.run("x.yaml", {"traffic.0.load": "x"}),
       "setting traffic.0.load")
raises(KeyError, lambda: run.table("trafic"), "no table 'trafic'")
# What settles a run that is too long.
raises(heddle.Stopped, lambda: heddle.run(
    "x.yaml", {"run.measure": "900ms"}, progress=lambda share, now: False),
    "stopped")


def interrupt(share, now):
    raise KeyboardInterrupt("enough")


raises(KeyboardInterrupt, lambda: heddle.run(
    "x.yaml", {"run.measure": "900ms"}, progress=interrupt), "enough")

# Real signals, which arrive while C computes. Whatever a handler raises ends
# the run; what raises nothing does not; and nothing is lost on the way.
signal.signal(signal.SIGINT, signal.default_int_handler)
LONG = {"run.measure": "900ms"}
lost = []
sys.unraisablehook = lost.append


def signalled(number, work, after=0.2):
    timer = threading.Timer(after, signal.pthread_kill,
                            (threading.main_thread().ident, number))
    timer.start()
    try:
        return work()
    finally:
        timer.cancel()
        timer.join()


def endless(net, lost=False):
    net.send(0, 1, 4096, done=endless)


def long_network():
    with heddle.Network("x.yaml") as net:
        endless(net)
        net.run()


for times in range(3):
    for work in (lambda: heddle.run("x.yaml", LONG),
                 lambda: heddle.run("x.yaml", LONG, progress=lambda *_: True),
                 long_network):
        raises(KeyboardInterrupt, lambda: signalled(signal.SIGINT, work), "")


def enough(number, frame):
    raise TimeoutError("enough")


seen = []
signal.signal(signal.SIGALRM, enough)
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
raises(TimeoutError, lambda: signalled(
    signal.SIGALRM, lambda: heddle.run("x.yaml", LONG)), "enough")
# A run that ends before the signal comes proves nothing: then a longer one follows.
for measure in ("3ms", "30ms", "300ms", "3s"):
    kept = signalled(signal.SIGUSR1, lambda: heddle.run(
        "x.yaml", {"run.measure": measure}), 0.05)
    if seen:
        break
check("a handler that returns ends nothing", kept.met)
check("it was called once", seen == [signal.SIGUSR1])
check("no exception is lost", not lost)
check("handlers are as they were", signal.getsignal(signal.SIGALRM) is enough
      and signal.getsignal(signal.SIGINT) is signal.default_int_handler)

# 110 ns and 40 ps a byte of a packet, on a star of 4x HDR.
STAR = "fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}"
arrivals = []


def arrived(net, lost):
    arrivals.append((net.now, lost))
    if len(arrivals) < 10:
        net.send(len(arrivals) % 8, (len(arrivals) + 1) % 8, 1024,
                 done=arrived)


with heddle.Network(text=STAR) as net:
    net.send("h0", "h1", 1024, done=arrived)
    net.run_until(300_000)
    check("not before its time", arrivals == [(152_000, False)])
    check("now", net.now == 300_000 and net.pending == 1)
    check("the end", net.run() == 1_520_000)
    check("all arrive", arrivals == [(152_000 * (i + 1), False)
                                     for i in range(10)])
    raises(heddle.Misuse, lambda: net.run_until(1), "time does not go back")
    raises(heddle.Misuse, lambda: net.send("h0", "h9", 1), "unknown host 'h9'")
    raises(heddle.Misuse, lambda: net.send(0, 0, 1), "same host")
    raises(heddle.Misuse, lambda: net.send(0, 1, 2**41), "size of a message")
    raises(heddle.Misuse, lambda: net.send(0, 1, -1), "size of a message")
    raises(heddle.Misuse, lambda: net.send(0, 1, 1, "gold"), "unknown class 'gold'")
    begun = net.now
    net.send(2, 3, 1024)
    net.send(4, 5, 4096)
    check("steps", [net.step(), net.step(), net.step(begun + 300_000)] ==
          [begun + 152_000, begun + 274_880, begun + 300_000])
    net.send(0, 1, 1, done=lambda net, lost: 1 / 0)
    raises(ZeroDivisionError, net.run, "division")
    net.send(0, 1, 1, done=lambda net, lost: net.close())
    raises(heddle.Misuse, net.run, "cannot be closed from its own callback")
raises(heddle.Misuse, net.run, "closed")

# Whatever argument: of the wrong kind it is a TypeError, with a value that means
# nothing a ValueError (or what the program would say), and one line; never a
# number that was cut to fit, or a name that ends early.
def wrong(call, value, kinds=(TypeError, ValueError)):
    try:
        call(value)
    except kinds as error:
        check("one line of %r: %s" % (value, error),
              str(error) and "\n" not in str(error))
        return
    sys.exit("FAILED: %r is taken" % (value,))


NUMBERS = [-1, -2**64, 2**64, 2**80, 1.5, "1", None, [], float("nan"), True]
NAMES = [b"a\0b".decode(), "\0", 3, 1.5, [], {}, object()]
TEXTS = [3, 1.5, [], None, object()]
FUNCTIONS = [3, "f", []]
with heddle.Network("x.yaml") as net:
    host = len(net.hosts)
    arguments = {
        heddle.set_threads: [(heddle.set_threads, NUMBERS + [2**32])],
        heddle.set_memory: [(heddle.set_memory, NUMBERS)],
        heddle.run: [
            (heddle.run, NAMES + [None]),
            (lambda v: heddle.run("x.yaml", v), [3, "x", [1]]),
            (lambda v: heddle.run("x.yaml", {v: 2}), [b"run.\0seed".decode()]),
            (lambda v: heddle.run("x.yaml", {"run.seed": v}), ["2\0", "\0"]),
            (lambda v: heddle.run("x.yaml", pcap=v), NAMES),
            (lambda v: heddle.run("x.yaml", trace=v), NAMES),
            (lambda v: heddle.run("x.yaml", progress=v), FUNCTIONS)],
        heddle.run_text: [
            (heddle.run_text, TEXTS),
            (lambda v: heddle.run_text("fabric: {}", name=v), NAMES)],
        heddle.Run: [],  # made by run and run_text
        heddle.version: [],
        heddle.Network: [
            (heddle.Network, NAMES + [None]),
            (lambda v: heddle.Network(text=v), TEXTS),
            (lambda v: heddle.Network(text="fabric: {}", name=v), NAMES),
            (lambda v: net.send(v, 1, 1), NUMBERS + [host, "h\0"]),
            (lambda v: net.send(0, v, 1), NUMBERS + [host, "h\0"]),
            (lambda v: net.send(0, 1, v), NUMBERS + [2**40 + 1]),
            (lambda v: net.send(0, 1, 1, v), NAMES),
            (lambda v: net.send(0, 1, 1, done=v), FUNCTIONS),
            (net.run_until, NUMBERS), (net.step, NUMBERS)],
    }
    for name in heddle.__all__:
        made = getattr(heddle, name)
        check("the arguments of %s are tried" % name, made in arguments or
              isinstance(made, type) and issubclass(made, heddle.Error))
        for call, values in arguments.get(made, []):
            for value in values:
                wrong(call, value, (TypeError, ValueError, heddle.Error))
    check("nothing was sent", net.pending == 0 and net.now == 0)
for table in ["no such", "\0", 3, None]:
    for call in (run.rows, run.units, run.table):
        wrong(call, table, KeyError)

# In several threads.
sums = []
threads = [threading.Thread(target=lambda: sums.append(
    heddle.run("x.yaml", {"run.seed": 2}).checksum)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check("threads agree", sums == [run.checksum] * 3)
print("ok", heddle.version())
