"""Programs on one host. many N: N at once, each with an answer.
die N: N one after another, each killed at another step.
kill N: N diagnostic tools, four at a time, each killed at any moment."""
import fcntl
import os
import random
import resource
import select
import signal
import struct
import subprocess
import sys

UMAD_ENABLE_PKEY, UMAD_REGISTER = 0x1B03, 0xC01C1B01
PERF, GET, CLASS_PORT_INFO = 4, 1, 1
UMAD_HEADER, MAD_SIZE = 64, 256


def register(fd):
    fcntl.ioctl(fd, UMAD_ENABLE_PKEY)
    ask = bytearray(struct.pack("=5I3B3sBx", 0, 0, 0, 0, 0, 1, PERF, 1, b"", 0))
    fcntl.ioctl(fd, UMAD_REGISTER, ask)
    return struct.unpack_from("=I", ask)[0]


def question(agent, lid, tid):
    head = struct.pack("=5I", agent, 0, 5000, 3, UMAD_HEADER + MAD_SIZE)
    head += struct.pack(">IIHBB", 1, 0x80010000, lid, 0, 0)
    mad = struct.pack(">4BHHQHHI", 1, PERF, 1, GET, 0, 0, tid,
                      CLASS_PORT_INFO, 0, 0)
    return head.ljust(UMAD_HEADER, b"\0") + mad.ljust(MAD_SIZE, b"\0")


def own_lid():
    with open("/sys/class/infiniband/heddle0/ports/1/lid") as f:
        return int(f.read(), 16)


def many(n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    lid = own_lid()
    fds = [os.open("/dev/infiniband/umad0", os.O_RDWR) for _ in range(n)]
    for i, fd in enumerate(fds):
        os.write(fd, question(register(fd), lid, i))
    for i, fd in enumerate(fds):
        if not wait(fd):
            sys.exit("no answer to program %d" % i)
        answer = os.read(fd, 1024)
        error = struct.unpack_from("=I", answer, 4)[0]
        tid = struct.unpack_from(">Q", answer, UMAD_HEADER + 8)[0] & 0xFFFFFFFF
        if error or tid != i:
            sys.exit("program %d: error %d, answer to %d" % (i, error, tid))


def wait(fd):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return poll.poll(20000)


def live_and_die(step, lid):
    fd = -1
    steps = [lambda: None,
             lambda: os.open("/dev/infiniband/umad0", os.O_RDWR),
             lambda: register(fd),
             lambda: os.write(fd, question(0, lid, 1)),
             lambda: os.write(fd, question(0, 999, 2)),  # an unused LID
             lambda: os.open("/dev/infiniband/issm0", os.O_RDWR),
             lambda: wait(fd) and os.read(fd, 1024)]
    for i in range(step + 1):
        got = steps[i]()
        if i == 1:
            fd = got
    signal.raise_signal(signal.SIGKILL)


def die(n):
    draw = random.Random(1)
    lid = own_lid()
    for _ in range(n):
        children = []
        for _ in range(8):
            step = draw.randrange(7)
            child = os.fork()
            if child == 0:
                live_and_die(step, lid)
            children.append(child)
        for child in children:
            if os.waitpid(child, 0)[1] != signal.SIGKILL:
                sys.exit("a program ended otherwise")


def kill(n):
    draw = random.Random(2)
    tools = [["ibnetdiscover"], ["saquery"], ["saquery", "-p"], ["iblinkinfo"],
             ["perfquery", "-x"], ["opensm", "-o", "-f", "/dev/null"],
             ["ibping", "-S"], ["ibqueryerrors"], ["dump_fts"]]
    for _ in range(n // 4):
        running = [subprocess.Popen(draw.choice(tools), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
                   for _ in range(4)]
        for program in running:
            select.select([], [], [], draw.random() / 10)
            program.kill()
        for program in running:
            program.wait()


{"many": many, "die": die, "kill": kill}[sys.argv[1]](int(sys.argv[2]))
