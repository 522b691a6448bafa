"""Serves subnet administration on a host: each query has the same status.

Arguments: the status, or "none" if it never answers, or "drawn SL LID...": paths
to these LIDs have that SL, but a question for one of SL 0 or 1 finds one twice,
as if an engine had drawn it; how many answers are "busy" first; and a file to
write once it serves.
"""
import fcntl
import os
import select
import struct
import sys

UMAD_ENABLE_PKEY, UMAD_REGISTER = 0x1B03, 0xC01C1B01
SA, SA_VERSION, GET, GET_TABLE, RESPONSE, BUSY = 3, 2, 1, 0x12, 0x80, 1
UMAD_HEADER, SA_OFFSET, SA_MASK, SA_DATA, PATH_SIZE = 64, 44, 48, 56, 64
NO_RECORDS, BY_SL, PATH_DLID, PATH_SL = 0x0300, 1 << 15, 40, 53

what = sys.argv[1].split()
status = None if what[0] in ("none", "drawn") else int(what[0], 0)
drawn = {0: 2, 1: 2}
busy = int(sys.argv[2])


def paths(mad):
    """Writes the records into the question; the status."""
    mask, = struct.unpack_from(">Q", mad, SA_MASK)
    sl, lids = int(what[1]), [int(word) for word in what[2:]]
    if mask & BY_SL:
        sl = mad[SA_DATA + PATH_SL]
        if drawn.get(sl, 0) == 0:
            return NO_RECORDS
        drawn[sl] -= 1
    struct.pack_into(">H", mad, SA_OFFSET, PATH_SIZE // 8)
    for i, lid in enumerate(lids):
        struct.pack_into(">H", mad, SA_DATA + i * PATH_SIZE + PATH_DLID, lid)
        mad[SA_DATA + i * PATH_SIZE + PATH_SL] = sl
    return 0



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
    if what[0] == "none":
        continue
    mad = frame[UMAD_HEADER:]
    said = 0 if mad[3] == GET else paths(mad) if what[0] == "drawn" else status
    if busy > 0:
        said, busy = BUSY, busy - 1
    mad[3] |= RESPONSE
    struct.pack_into(">H", mad, 4, said)
    struct.pack_into("=5I", frame, 0, agent, 0, 0, 0, len(frame))
    os.write(fd, frame[:UMAD_HEADER] + mad)
