"""Joins the multicast group of IPoIB, as the kernel of a host would.

An argument is the Q_Key to do so with, instead of the right one.
"""
import fcntl
import os
import select
import struct
import sys

UMAD_ENABLE_PKEY, UMAD_REGISTER = 0x1B03, 0xC01C1B01
SA, SA_VERSION, SET, MC_MEMBER_RECORD = 3, 2, 2, 0x38
BROADCAST = bytes.fromhex("ff12401bffff000000000000ffffffff")
BY_MGID, BY_PORT_GID, BY_JOIN_STATE = 1 << 0, 1 << 1, 1 << 16
UMAD_HEADER, SA_HEADER, MAD_SIZE = 64, 56, 256
QKEY = int(sys.argv[1], 0) if len(sys.argv) > 1 else 0x80010000


def read(name):
    with open("/sys/class/infiniband/heddle0/ports/1/" + name) as f:
        return f.read().strip()


def record():
    data = bytearray(52)
    data[0:16] = BROADCAST
    data[16:32] = bytes.fromhex(read("gids/0").replace(":", ""))
    data[48] = 1  # a full member
    return bytes(data)


def request(agent):
    mask = BY_MGID | BY_PORT_GID | BY_JOIN_STATE
    mad = struct.pack(">4BHHQHHI", 1, SA, SA_VERSION, SET, 0, 0, 7,
                      MC_MEMBER_RECORD, 0, 0)
    mad += bytes(12) + struct.pack(">QHHQ", 0, 0, 0, mask) + record()
    head = struct.pack("=5I", agent, 0, 1000, 3, UMAD_HEADER + MAD_SIZE)
    head += struct.pack(">IIHBB", 1, QKEY, int(read("sm_lid"), 16), 0, 0)
    return head.ljust(UMAD_HEADER, b"\0") + mad.ljust(MAD_SIZE, b"\0")


fd = os.open("/dev/infiniband/umad0", os.O_RDWR)
fcntl.ioctl(fd, UMAD_ENABLE_PKEY)
ask = bytearray(struct.pack("=5I3B3sBx", 0, 0, 0, 0, 0, 1, SA, SA_VERSION,
                            b"", 1))
fcntl.ioctl(fd, UMAD_REGISTER, ask)
os.write(fd, request(struct.unpack_from("=I", ask)[0]))
if not select.select([fd], [], [], 20)[0]:
    sys.exit("no answer")
answer = os.read(fd, 1024)
error = struct.unpack_from("=I", answer, 4)[0]
status = struct.unpack_from(">H", answer, UMAD_HEADER + 4)[0]
if error or status:
    sys.exit("error %d, status 0x%04x" % (error, status))
print("0x%04x" % struct.unpack_from(">H", answer,
                                    UMAD_HEADER + SA_HEADER + 36)[0])
