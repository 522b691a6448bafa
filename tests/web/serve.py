# SPDX-License-Identifier: BSD-2-Clause
"""'heddle serve' over HTTP: who may ask, what is refused, what it counts.

Usage: serve.py HEDDLE SCENARIO SECONDS
A real Prometheus collects its metrics for so many seconds while it runs; then
they are what 'heddle sim' counts of the scenario that was saved.
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
    """Bytes that are hardly HTTP; whoever asks properly is still answered."""
    dice = random.Random(1)
    words = [b"GET ", b"POST ", b"/state.json", b"/cut?link=", b" HTTP/1.1\r\n",
             b"Host: 127.0.0.1\r\n", b"X-Heddle: 1\r\n", b"Content-Length: ",
             b"Transfer-Encoding: chunked\r\n", b"\r\n", b"%00", b"&" * 50, b"\0"]
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", port)) as s:
            line = b"".join(dice.choice(words) if dice.random() < .8 else
                            dice.randbytes(dice.randrange(40))
                            for _ in range(dice.randrange(1, 12)))
            try:
                s.sendall(line)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(5)
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


def simulated_counters(path, port):
    """What 'heddle sim --counters' prints of one port."""
    out = subprocess.run([heddle, "sim", path, "--counters", "--port", port],
                         capture_output=True, text=True)
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+):\.*(\d+)$", out.stdout, re.M)}


NAMES = {"port_data_transmitted_bytes_total": ("PortXmitData", 4),
         "port_data_received_bytes_total": ("PortRcvData", 4),
         "port_packets_transmitted_total": ("PortXmitPkts", 1),
         "port_packets_received_total": ("PortRcvPkts", 1),
         "port_transmit_wait_total": ("PortXmitWait", 1),
         "port_discards_transmitted_total": ("PortXmitDiscards", 1),
         "link_downed_total": ("LinkDownedCounter", 1)}


def same_as_sim(port, most=6):
    """The metrics of the ended run are those of its scenario."""
    with open("saved.yaml", "w", encoding="utf8") as f:
        f.write(ask(port, "GET", "/scenario.yaml")[1])
    counters = port_counters(ask(port, "GET", "/metrics")[1])
    hosts = [k for k in counters if k[0].startswith("h")][:most // 2]
    switches = [k for k in counters if k[0].startswith("s")][:most // 2]
    for device, number in hosts + switches:
        name = device if device.startswith("h") else f"{device}:{number}"
        theirs = simulated_counters("saved.yaml", name)
        for ours, (word, factor) in NAMES.items():
            found = counters[device, number][ours]
            expect(word in theirs, f"{name}: no {word}: {theirs}")
            expect(found == factor * theirs[word], f"{name}: {ours} {found}, {word} {theirs[word]}")
    expect(sum(c["port_packets_received_total"] for c in counters.values()) > 0, "nobody received anything")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def start_prometheus(target, token):
    shutil.rmtree("prometheus", ignore_errors=True)
    os.mkdir("prometheus")
    with open("prometheus/p.yml", "w", encoding="utf8") as f:
        json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                   "scrape_configs": [{"job_name": "heddle",
                                       "authorization": {"credentials": token},
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


def collected(target, token):
    """Prometheus sees every second of it, and in the end what we see."""
    p, own = start_prometheus(target, token)
    try:
        while not query(own, "up == 1"):
            sleep(0.2)
        sleep(seconds)
        # In all of the last seconds up each time; how often it found the time
        # to ask is its own matter.
        window = seconds - 1
        up = float(query(own, f"sum_over_time(up[{window}s])")[0]["value"][1])
        n = float(query(own, f"count_over_time(up[{window}s])")[0]["value"][1])
        expect(up == n and n >= 2, f"{n} samples in {window} s, {up} of them up")
        wait_for(target, "ended", lambda s: s["state"] == "ended") if not token else None
        sleep(2.5)
        theirs = {(r["metric"]["device"], r["metric"]["port"]): float(r["value"][1])
                  for r in query(own, "node_infiniband_port_data_received_bytes_total")}
        auth = {"Authorization": f"Bearer {token}"} if token else {}
        ours = {k: v["port_data_received_bytes_total"]
                for k, v in port_counters(ask(target, "GET", "/metrics", **auth)[1]).items()}
        expect(len(ours) > 0 and theirs == ours, "prometheus has other values")
        rate = query(own, "sum(heddle_row_delivered_bytes_total)")
        expect(float(rate[0]["value"][1]) > 0, "no rows in prometheus")
    finally:
        p.terminate()
        p.wait()


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
        do(port, "/cut?link=9")
        do(port, "/load?row=0&value=30%25")
        do(port, f"/speed?time={int(170 / (seconds - 1))}us")
        do(port, "/run")
        collected(port, "")
        expect(state(port)["down"], "the cable is not down")
        same_as_sim(port)
    finally:
        p.terminate()
        p.wait()
    with_token()
    print("serve: as it should be")


main()
