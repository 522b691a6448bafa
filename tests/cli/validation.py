"""docs/validation.md: theory with the current build, and its tables from the data of the peers.

validation.py HEDDLE SRC
"""
import csv
import json
import re
import subprocess
import sys

heddle, src = sys.argv[1:]
page = open(src + "/docs/validation.md").read()


def rows(title):
    """Cells of the table below a line that begins with `title`."""
    lines = iter(page[page.index("\n" + title):].splitlines()[1:])
    table = []
    for line in lines:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split("|")])
        elif table:
            break
    return table[2:]


def data(name):
    return list(csv.DictReader(open("%s/tests/fixtures/peers/%s.csv" % (src, name))))


def check(what, shown, value):
    """`shown` is `value`, rounded to the digits shown."""
    digits = len(shown.partition(".")[2])
    if "%.*f" % (digits, value) != shown.replace("+", "") and "%+.*f" % (digits, value) != shown:
        sys.exit("docs/validation.md: %s: %s is shown, the data give %g" % (what, shown, value))


def simulate(file, *settings):
    command = [heddle, "sim", file, "--json"] + [x for s in settings for x in ("--set", s)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1), command
    return json.loads(done.stdout)["tables"]


# The table of M/D/1 is what the data say.
waits = {(r["simulator"], r["workload"]): float(r["value"]) for r in data("b_md1")}
for load, theory, ours, difference in rows("## Theory"):
    name = "M[X]/D/1 poisson scv 1 load %g" % (float(load.split()[0]) / 100)
    check(load, theory.split()[0], waits["theory", name])
    check(load, ours.split()[0], waits["heddle", name])
    check(load, difference.split()[0],
          100 * (waits["heddle", name] / waits["theory", name] - 1))

# The table of the mesh.
for load, theirs, ours, difference, equal in rows("### BookSim 2"):
    means = {}
    for row in data("a_mesh_fifo"):
        if " load %s seed " % load in row["workload"]:
            means.setdefault((row["simulator"], row["parameter"]), []).append(float(row["value"]))
    mean = {key: sum(values) / len(values) for key, values in means.items()}
    check(load, theirs, mean["booksim", "mean_latency"])
    check(load, ours, mean["heddle", "mean_latency"])
    check(load, difference.split()[0],
          100 * (mean["heddle", "mean_latency"] / mean["booksim", "mean_latency"] - 1))
    check(load, equal.split()[0], 100 * mean["both", "packets_with_equal_latency"])

# The table of profiles: each row is measured again.
def bench(profile, test, size):
    """Typical latency in us; bandwidth in MiB/s; rate in millions; bandwidth in MB/s."""
    done = subprocess.run([heddle, "bench", test, "--profile", profile, "--csv", "--size",
                           "%s..%s" % (size, size)], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    cells = lines[-1].split(",")
    if test.endswith("-lat"):
        return {"us": float(cells[4])}
    return {"MiB/s": float(cells[3]), "M/s": float(cells[4]), "MB/s": float(cells[6])}


for test, size, measured, ours, deviation, _ in rows("### Adapter profiles"):
    number, unit = measured.split()
    value = bench(*test.split(), size.split()[0])[unit]
    check(test, ours, value)
    check(test, deviation.split()[0], 100 * (value / float(number) - 1))

# An inline message reads nothing over the bus, and a queue pair keeps its distance in time.
text = open(src + "/src/hca/profiles/connectx-4-like.yaml").read()
with open("slow.yaml", "w") as file:
    file.write(text.replace("latency: 275ns", "latency: 5us"))
with open("rare.yaml", "w") as file:
    file.write(text.replace("inline: 236B", "inline: 0B\n  queue_pair: 1us"))
assert bench("slow.yaml", "send-lat", 128) == bench("connectx-4-like", "send-lat", 128)
assert bench("slow.yaml", "send-lat", 256)["us"] > 5
assert abs(bench("rare.yaml", "write-bw", 8)["M/s"] - 1) < 0.01

# M/D/1 with the current build: the mean over 8 seeds is within 3 standard errors of theory.
with open("md1.yaml", "w") as file:
    file.write("""fabric:
  topology: {kind: back-to-back}
  link: {rate: 4x HDR, propagation: 1ps}
  packet: {overhead: 0}
  host: {input_buffer: 64 packets}
qos: {vls: 1}
traffic:
  - {name: one, kind: poisson, payload: 2KiB, load: 50%, source: h0, destination: h1, pattern: pairs}
run: {warmup: 100us, measure: 20ms}
""")
service = 2048 * 8 / 200
for load in 30, 50, 70, 90:
    seen = []
    for seed in range(1, 9):
        traffic = simulate("md1.yaml", "traffic.0.load=%d%%" % load, "run.seed=%d" % seed)["traffic"]
        seen.append(1000 * traffic["rows"][0]["mean"] - service - 0.001)
    mean = sum(seen) / len(seen)
    error = (sum((x - mean) ** 2 for x in seen) / (len(seen) - 1) / len(seen)) ** 0.5
    rho = load / 100
    theory = service * rho / (2 * (1 - rho))
    print("M/D/1 at %d %%: %.2f ns +- %.2f, theory %.2f ns" % (load, mean, error, theory))
    assert abs(mean - theory) <= 3 * error, load

# FIFO input queues: between the limit of many inputs and that of 16 inputs.
summary = simulate(src + "/examples/exercise-fifo.yaml", "fabric.topology.hosts=128")["summary"]
share = summary["rows"][0]["host links used"]
print("FIFO, 128 inputs: %.2f %%, limit 58.58 %%" % share)
assert 58.58 - 0.5 <= share <= 58.58 + 0.5, share
