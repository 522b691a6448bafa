# SPDX-License-Identifier: BSD-2-Clause
"""'heddle serve' over HTTP: who may ask, what is refused, what it counts.

Usage: serve.py HEDDLE SCENARIO SECONDS
A real Prometheus collects its metrics every second, at least so often, while it
runs and others look on; each sample is then what 'heddle sim' counts of the saved
scenario up to that moment. How often Prometheus finds the time to ask is its own
matter unless this takes a minute: answers are numbered, and none is missing.
"""
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request

sleep = threading.Event().wait
heddle, scenario, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
is_long = seconds >= 60
WARMUP, END = 5_000_000, 205_000_000  # ps, of the scenario
MARGIN = 5_000 + 164_880 + 1  # a cable, and 4,122 bytes at 200 Gb/s


def fail(why):
    raise SystemExit(f"FAILED: {why}")


def expect(truth, why):
    if not truth:
        fail(why)


def serve(*arguments):
    """The process and its port."""
    p = subprocess.Popen([heddle, "serve", scenario, "--listen", "127.0.0.1:0", *arguments],
                         stdout=subprocess.PIPE, text=True)
    url = p.stdout.readline()
    port = re.match(r"http://[^:]+:(\d+)/", url)
    expect(port, f"no address but '{url}'")
    return p, int(port[1]), url.strip()


def ask(port, method, path, **headers):
    """Status and text; only the headers that are given, and Host."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {k.replace("_", "-"): v for k, v in headers.items()}
    body = headers.pop("body", None)
    c.request(method, path, body=body, headers=headers)
    answer = c.getresponse()
    text = answer.read().decode()
    c.close()
    return answer.status, text, answer


def do(port, path, status=200):
    found, text, _ = ask(port, "POST", path, X_Heddle="1")
    expect(found == status, f"POST {path}: {found} {text}")
    return text


def state(port):
    return json.loads(ask(port, "GET", "/state.json")[1])


def wait_for(port, what, until):
    for _ in range(3000):
        s = state(port)
        if until(s):
            return s
        sleep(0.1)
    return fail(f"never {what}: {s['state']} at {s['now']} us")


def refusals(port):
    """One line each, and the status that fits."""
    for status, method, path, headers in [
            (403, "GET", "/state.json", {"Host": "evil.example"}),
            (403, "GET", "/", {"Host": "127.0.0.1.evil.example"}),
            (403, "POST", "/pause", {}),
            (403, "POST", "/pause", {"X_Heddle": "1", "Origin": "http://evil.example"}),
            (404, "GET", "/../../etc/passwd", {}),
            (405, "GET", "/pause", {}),
            (405, "DELETE", "/", {}),
            (400, "POST", "/cut?link=x", {"X_Heddle": "1"}),
            (400, "POST", "/load?row=0&value=%3Cb%3E", {"X_Heddle": "1"}),
            (404, "POST", "/cut?link=4000000", {"X_Heddle": "1"}),
            (422, "POST", "/weights?low=0:999", {"X_Heddle": "1"}),
            (413, "POST", "/pause", {"X_Heddle": "1", "body": "x" * 1000})]:
        found, text, answer = ask(port, method, path, **headers)
        expect(found == status, f"{method} {path} {headers}: {found} {text}")
        expect(text.count("\n") == 1, f"{method} {path}: more than a line: {text}")
        expect(answer.headers["X-Content-Type-Options"] == "nosniff", "nosniff")
    expect("frame" in ask(port, "GET", "/")[1] or
           ask(port, "GET", "/")[2].headers["X-Frame-Options"] == "DENY", "frames")


def noise(port):
    """Random bytes; well-formed requests are still answered."""
    rng = random.Random(1)
    words = [b"GET ", b"POST ", b"/state.json", b"/cut?link=", b" HTTP/1.1\r\n",
             b"Host: 127.0.0.1\r\n", b"X-Heddle: 1\r\n", b"Content-Length: ",
             b"Transfer-Encoding: chunked\r\n", b"\r\n", b"%00", b"&" * 50, b"\0"]
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", port)) as s:
            line = b"".join(rng.choice(words) if rng.random() < .8 else
                            rng.randbytes(rng.randrange(40))
                            for _ in range(rng.randrange(1, 12)))
            try:
                s.sendall(line)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(0.2)  # what is incomplete may be waited for
                while s.recv(4096):
                    pass
            except OSError:
                pass
    expect(state(port)["state"] == "paused", "noise changed the run")


def port_counters(text):
    """{(device, port): {name: value}} of metrics."""
    found = {}
    for m in re.finditer(r'^node_infiniband_(\w+)\{device="([^"]*)",port="(\d+)"\} (\S+)$', text, re.M):
        found.setdefault((m[2], m[3]), {})[m[1]] = float(m[4])
    return found


def simulated_counters(*arguments):
    """What 'heddle sim --counters' prints of all ports, one after the other."""
    out = subprocess.run([heddle, "sim", "saved.yaml", "--counters", *arguments], capture_output=True, text=True)
    blocks = re.split(r"^# Port counters:.*$", out.stdout, flags=re.M)[1:]
    return [{m[1]: int(m[2]) for m in re.finditer(r"^(\w+):\.*(\d+)$", block, re.M)} for block in blocks]


def simulated_rows(*arguments):
    """{row: (packets that arrived, packets lost)}"""
    out = subprocess.run([heddle, "sim", "saved.yaml", "--json", *arguments], capture_output=True, text=True)
    return {r["traffic"]: (r["packets"], r["lost"]) for r in json.loads(out.stdout)["tables"]["traffic"]["rows"]}


NAMES = {"port_data_transmitted_bytes_total": ("PortXmitData", 4),
         "port_data_received_bytes_total": ("PortRcvData", 4),
         "port_packets_transmitted_total": ("PortXmitPkts", 1),
         "port_packets_received_total": ("PortRcvPkts", 1),
         "port_transmit_wait_total": ("PortXmitWait", 1),
         "port_discards_transmitted_total": ("PortXmitDiscards", 1),
         "link_downed_total": ("LinkDownedCounter", 1)}


def until(ps):
    """The counters of all ports, and rows, of a run that ends then."""
    measured = ("--set", f"run.measure={ps - WARMUP}ps")
    return simulated_counters(*measured), simulated_rows(*measured)


def same_as_sim(samples, at, ports):
    """What Prometheus has of one moment is what a run that ends then counts. A
    unfinished run counts arrivals when they are sent, a margin ahead at most
    (timing-rules.md, M2)."""
    now = round(value_of(samples, "heddle_simulated_seconds", at) * 1e12)
    (least, rows_least), (most, rows_most) = until(now), until(min(now + MARGIN, END))
    expect(len(least) == len(ports) == 128, f"{len(least)} ports, not {len(ports)}")
    for (device, number), low, high in zip(ports, least, most):
        for ours, (word, factor) in NAMES.items():
            found = value_of(samples, f"node_infiniband_{ours}", at, device=device, port=number) / factor
            ahead = high if "received" in ours else low
            expect(low[word] <= found <= ahead[word],
                   f"{now} ps: {device}:{number}: {ours} {found}, {word} {low[word]} to {ahead[word]}")
    for row, low in rows_least.items():
        for i, what in enumerate(("delivered", "lost")):
            found = value_of(samples, f"heddle_row_{what}_packets_total", at, row=row)
            expect(low[i] <= found <= rows_most[row][i],
                   f"{now} ps: {row}: {found} {what}, not {low[i]} to {rows_most[row][i]}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def start_prometheus(target):
    shutil.rmtree("prometheus", ignore_errors=True)
    os.mkdir("prometheus")
    with open("prometheus/p.yml", "w", encoding="utf8") as f:
        json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                   "scrape_configs": [{"job_name": "heddle",
                                       "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}]}, f)
    own = free_port()
    p = subprocess.Popen(["prometheus", "--config.file=prometheus/p.yml", "--storage.tsdb.path=prometheus/data",
                          f"--web.listen-address=127.0.0.1:{own}", "--log.level=error"])
    return p, own


def query(own, what):
    url = f"http://127.0.0.1:{own}/api/v1/query?query={urllib.request.quote(what)}"
    for _ in range(1500):
        try:
            with urllib.request.urlopen(url, timeout=300) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            sleep(0.2)
    return fail("prometheus does not answer")


def value_of(samples, name, at, **labels):
    key = frozenset({"__name__": name, "job": "heddle", "instance": samples.instance, **labels}.items())
    return samples[key][at]


class Samples(dict):
    """All that Prometheus has: {labels: {time: value}}."""

    def __init__(self, own, target):
        super().__init__()
        self.instance = f"127.0.0.1:{target}"
        for series in query(own, "{job='heddle'}[1h]"):
            self[frozenset(series["metric"].items())] = {t: float(v) for t, v in series["values"]}
        self.up = value_all(self, "up")


def value_all(samples, name):
    return samples[frozenset({"__name__": name, "job": "heddle", "instance": samples.instance}.items())]


def without_a_gap(samples):
    """Every answer that was sent is there, with every series of it, and none failed."""
    times = sorted(samples.up)
    expect(set(samples.up.values()) == {1}, f"up: {samples.up}")
    numbers = [value_all(samples, "heddle_scrapes_total")[t] for t in times]
    expect(numbers == [numbers[0] + i for i in range(len(times))], f"not one after the other: {numbers}")
    for labels, values in samples.items():
        expect(sorted(values) == times, f"{dict(labels)} has {len(values)} samples of {len(times)}")
        if dict(labels)["__name__"].endswith("_total"):
            found = [values[t] for t in times]
            expect(found == sorted(found), f"{dict(labels)} falls: {found}")


def on_time(samples):
    """A sample each second of a minute: what a machine with time for it owes."""
    times = sorted(samples.up)
    between = [b - a for a, b in zip(times, times[1:])]
    expect(max(between) <= 1.5, f"a gap of {max(between)} s")
    minute = [t for t in times if times[0] <= t < times[0] + 59.5]
    expect(len(minute) == 60, f"{len(minute)} samples in a minute")


def look_on(target, until):
    """What a page does, four times as often."""
    while not until.wait(0.125):
        state(target)


def collected(target):
    """Prometheus has every scrape of the run, and in each what 'heddle sim' counts."""
    p, own = start_prometheus(target)
    enough = threading.Event()
    page = threading.Thread(target=look_on, args=(target, enough))
    page.start()
    try:
        while not query(own, "up == 1"):
            sleep(0.2)
        wait_for(target, "ended", lambda s: s["state"] == "ended")
        ended = query(own, "heddle_scrapes_total")[0]["value"][1]
        wanted = max(seconds, int(ended) + 2)
        while int(query(own, "heddle_scrapes_total")[0]["value"][1]) < wanted:
            sleep(0.2)
        samples = Samples(own, target)
    finally:
        enough.set()
        page.join()
        p.terminate()
        p.wait()
    with open("saved.yaml", "w", encoding="utf8") as f:
        f.write(ask(target, "GET", "/scenario.yaml")[1])
    without_a_gap(samples)
    times = sorted(samples.up)
    if is_long:
        on_time(samples)
    moments = times if is_long else times[::2] + times[-1:]
    now = port_counters(ask(target, "GET", "/metrics")[1])
    for t in moments:
        same_as_sim(samples, t, list(now))
    for (device, number), counters in now.items():
        for name, value in counters.items():
            expect(value_of(samples, f"node_infiniband_{name}", times[-1], device=device, port=number) == value,
                   f"{device}:{number}: {name} was not {value} at the end")
    print(f"{len(times)} samples of {len(samples)} series, {len(moments)} of them as 'heddle sim' counts")


def texts(value, key):
    """Every text of that key, however deep."""
    if isinstance(value, dict):
        for k, v in value.items():
            if k == key and isinstance(v, str):
                yield v
            yield from texts(v, key)
    elif isinstance(value, list):
        for v in value:
            yield from texts(v, key)


def dashboard(port):
    """What the dashboard for Grafana asks for is there."""
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
    with open(os.path.join(docs, "grafana/heddle.json"), encoding="utf8") as f:
        board = json.load(f)
    asked = " ".join([*texts(board, "expr"), *texts(board, "query")])
    wanted = set(re.findall(r"\b(?:node_infiniband|heddle)_\w+", asked))
    there = set(re.findall(r"^[a-z]\w+", ask(port, "GET", "/metrics")[1], re.M))
    expect(len(wanted) > 5, f"the dashboard asks for {wanted} only")
    expect(wanted <= there, f"the dashboard asks for {wanted - there}, which is not there")


def with_token():
    with open("token", "w", encoding="utf8") as f:
        f.write("0123456789abcdef0123456789abcdef\n")
    p, port, url = serve("--paused", "--token", "token")
    try:
        expect(url.endswith("#token=0123456789abcdef0123456789abcdef"), url)
        expect(ask(port, "GET", "/")[0] == 200, "the page needs no token")
        for given in ({}, {"Authorization": "Bearer 0123456789abcdef0123456789abcdeF"},
                      {"Authorization": "Basic 0123456789abcdef0123456789abcdef"}):
            expect(ask(port, "GET", "/metrics", **given)[0] == 401, f"{given} is enough")
        good = {"Authorization": "Bearer 0123456789abcdef0123456789abcdef"}
        expect(ask(port, "GET", "/metrics", **good)[0] == 200, "the token is refused")
    finally:
        p.terminate()
        p.wait()


def main():
    p, port, _ = serve("--paused", "--speed", "0s")
    try:
        refusals(port)
        noise(port)
        do(port, "/step?time=30us")
        wait_for(port, "30 us", lambda s: s["now"] >= 30)
        dashboard(port)
        do(port, "/cut?link=9")
        do(port, "/load?row=0&value=30%25")
        do(port, f"/speed?time={int(170 / (seconds - 1))}us")
        do(port, "/run")
        collected(port)
        now = state(port)
        expect(len(now["down"]) == 2, "the cable is not down")
        expect(all(30 <= t < 31 for t in now["since"]) and len(now["since"]) == 2,
               f"the cable was cut at {now['since']}")
    finally:
        p.terminate()
        p.wait()
    with_token()
    print("serve: as it should be")


main()
