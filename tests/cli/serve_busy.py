# SPDX-License-Identifier: BSD-2-Clause
"""'heddle serve' with slow clients and long changes.

Usage: serve_busy.py HEDDLE SCENARIO JOBS
"""
import atexit
import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request

heddle, scenario, jobs = sys.argv[1:]
sleep = threading.Event().wait
PATIENCE = 60  # seconds in which a request is answered, on a busy machine
PAGES = ["/", "/state.json", "/metrics", "/fabric.json", "/scenario.yaml", "/report.html"]


def fail(why):
    raise SystemExit(f"FAILED: {why}")


def serve(file, *arguments, listen="127.0.0.1:0"):
    p = subprocess.Popen([heddle, "serve", file, "--listen", listen, *arguments],
                         stdout=subprocess.PIPE, text=True)
    atexit.register(p.kill)
    url = p.stdout.readline().strip()
    if not url:
        fail(f"no address of {file} at {listen}")
    return p, url


def request(port, method, path, timeout=PATIENCE):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    c.request(method, path, headers={"X-Heddle": "1"})
    answer = c.getresponse()
    text = answer.read()
    c.close()
    return answer.status, text


def look(port, path):
    status, text = request(port, "GET", path)
    # Without the tools for it the program has no pages.
    if status != 200 and not (status == 503 and b"not part of this build" in text):
        fail(f"GET {path}: {status} {text[:200]}")
    return text


def state(port):
    return json.loads(look(port, "/state.json"))


def stop(p):
    p.kill()
    p.wait()


def cpu(pid):
    """Seconds that the process has computed."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_slow_clients(port, n):
    """Half a request, a request whose answer is not read, and nothing."""
    texts = [b"GET /state.json HTTP/1.1\r\nHost: 127.0.0.1", b"",
             b"GET /report.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"]
    clients = []
    for i in range(n):
        c = socket.create_connection(("127.0.0.1", port))
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.sendall(texts[i % 3])
        clients.append(c)
    return clients


def slow_clients_and_long_changes():
    p, url = serve(scenario, "--speed", "0s")
    port = int(re.search(r":(\d+)/", url)[1])
    # Long enough that a change takes a second.
    while cpu(p.pid) < 1.5:
        state(port)
        sleep(0.05)
    request(port, "POST", "/pause")
    before = state(port)
    clients = open_slow_clients(port, 30)
    made = []
    stopping = threading.Event()

    def change(link):
        """A cable is cut and mended until there have been enough looks."""
        for how in itertools.cycle(["cut", "mend"]):
            status, text = request(port, "POST", f"/{how}?link={link}", 600)
            if stopping.is_set():
                return
            made.append((status, text))

    for i in range(3):
        threading.Thread(target=change, args=(9 + i,), daemon=True).start()
    for i in range(8):  # clients that ask for a change and go away
        c = socket.create_connection(("127.0.0.1", port))
        c.sendall(b"POST /mend?link=9 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Heddle: 1\r\n\r\n")
        c.close()
    looks, then = 0, before
    # A look counts if one change is computed before and after it: all pages were answered meanwhile.
    while looks < 2 or not made:
        for path in PAGES:
            look(port, path)
        now = state(port)
        if now["now"] != before["now"]:
            fail(f"a paused run at {before['now']} us is at {now['now']} us after a change")
        if len(now["changes"]) < len(then["changes"]):
            fail(f"changes are lost: {then['changes']} became {now['changes']}")
        looks += then["changing"] and now["changing"] and now["version"] == then["version"]
        then = now
        if len(made) > 30:
            fail(f"all pages were answered only {looks} times while {len(made)} changes were computed")
    stopping.set()
    bad = [m for m in made if m[0] != 200]
    if bad:
        fail(f"a change was answered with {bad[0]}")
    stop(p)
    for c in clients:
        c.close()
    print(f"serve_busy: all pages {looks} times during a change, {len(made)} changes")


def nothing_spins():
    p, url = serve(scenario, "--paused")
    port = int(re.search(r":(\d+)/", url)[1])
    clients = open_slow_clients(port, 9)
    state(port)
    sleep(0.5)
    before = cpu(p.pid)
    sleep(3)
    used = cpu(p.pid) - before
    if used > 1:
        fail(f"{used} s of computing in 3 s of a pause")
    for c in clients:
        c.close()
    stop(p)


def jobs_can_be_followed():
    p, url = serve(jobs, "--speed", "0s")
    port = int(re.search(r":(\d+)/", url)[1])
    for _ in range(5):
        for path in PAGES:
            look(port, path)
    stop(p)


def every_printed_address_answers():
    for listen in ["127.0.0.1:0", "127.0.0.2:0", "127.255.255.254:0", "[::1]:0", "[0:0:0:0:0:0:0:1]:0"]:
        if "[" in listen and not os.path.exists("/proc/net/if_inet6"):
            continue
        p, url = serve(scenario, "--paused", listen=listen)
        with urllib.request.urlopen(url + "state.json", timeout=PATIENCE) as answer:
            if answer.status != 200:
                fail(f"{url}: {answer.status}")
        stop(p)


def ignore(arguments):
    """A client whose server is gone."""
    if not isinstance(arguments.exc_value, (OSError, http.client.HTTPException)):
        threading.__excepthook__(arguments)


threading.excepthook = ignore
every_printed_address_answers()
jobs_can_be_followed()
nothing_spins()
slow_clients_and_long_changes()
