"""bands.py rows SEED > rows.yaml; bands.py check SEED < results of 'heddle sim --json';
bands.py requests SEED > requests; bands.py answers SEED < results of 'heddle qos admit --json'.

Rows of random rates, and of the limits, of the classes of paper 000, 4.1. The SLs are
those of its table, written here once more.
"""
import json
import random
import sys

# Upper limits in bit/s, inclusive; 5.2 has SLs 0 to 3 for DB, and four more are for DBTS.
LIMITS = [64_000, 1_550_000, 64_000_000]
FIRST = {"DB": 0, "DBTS": 4}


def cases(seed):
    rng = random.Random(seed)
    rates = [limit + more for limit in LIMITS for more in (-1, 0, 1)]
    rates += [int(8000 * (300e6 / 8000) ** rng.random()) for _ in range(55)]
    return [(rng.choice(["DB", "DBTS"]), rate) for rate in rates]


def sl_of(kind, rate):
    return FIRST[kind] + sum(rate > limit for limit in LIMITS)


what, seed = sys.argv[1], int(sys.argv[2])
if what == "rows":
    print("fabric: {topology: {kind: star, hosts: 3}, link: {rate: 100Gb/s}}")
    print("qos: {vls: 15, bands: true}\ntraffic:")
    for i, (kind, rate) in enumerate(cases(seed)):
        # Without a rate, what is reserved counts.
        rate = f"rate: {rate}b/s" if i % 2 else f"load: 0.01%, reserve: {rate}b/s"
        print(f"- {{name: r{i}, class: {kind}, kind: cbr, pattern: pairs, source: h0,"
              f" destination: h1, payload: 64, {rate}}}")
    print("- {name: rest, class: BE, kind: saturating, pattern: pairs, source: h1,"
          " destination: h2}")
    print("run: {warmup: 0us, measure: 1us}")
elif what == "requests":
    for kind, rate in cases(seed):
        print(f"h0 h1 {kind} {rate}b/s 64")
else:
    tables = json.load(sys.stdin)["tables"]
    wanted = [sl_of(kind, rate) for kind, rate in cases(seed)]
    if what == "check":
        wanted.append(8)  # BE
        found = [row["SL"] for row in tables["traffic"]["rows"]]
    else:
        found = [row["sl"] for row in tables["requests"]["rows"]]
    if found != wanted:
        sys.exit(f"SLs {found}, not {wanted}")
