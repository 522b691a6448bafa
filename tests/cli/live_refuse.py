"""Serves subnet administration on a host: each query has the same status.

Arguments: the status, or "none" if it never answers; how many answers are
"busy" first; and a file to write once it serves.
"""
import fcntl
import os
import select
import struct
import sys

UMAD_ENABLE_PKEY, UMAD_REGISTER = 0x1B03, 0xC01C1B01
SA, SA_VERSION, GET, GET_TABLE, RESPONSE, BUSY = 3, 2, 1, 0x12, 0x80, 1
UMAD_HEADER = 64

status = None if sys.argv[1] == "none" else int(sys.argv[1], 0)
busy = int(sys.argv[2])

fd = os.open("/dev/infiniband/umad0", os.O_RDWR)
fcntl.ioctl(fd, UMAD_ENABLE_PKEY)
methods = 1 << GET | 1 << GET_TABLE
ask = bytearray(struct.pack("=5I3B3sBx", 0, methods, 0, 0, 0, 1, SA, SA_VERSION,
                            b"", 0))
fcntl.ioctl(fd, UMAD_REGISTER, ask)
agent = struct.unpack_from("=I", ask)[0]
open(sys.argv[3], "w").close()
while True:
    select.select([fd], [], [])
    frame = bytearray(os.read(fd, 65536))
    if status is None:
        continue
    mad = frame[UMAD_HEADER:]
    said = 0 if mad[3] == GET else status
    if busy > 0:
        said, busy = BUSY, busy - 1
    mad[3] |= RESPONSE
    struct.pack_into(">H", mad, 4, said)
    struct.pack_into("=5I", frame, 0, agent, 0, 0, 0, len(frame))
    os.write(fd, frame[:UMAD_HEADER] + mad)
