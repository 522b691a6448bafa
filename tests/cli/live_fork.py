# SPDX-License-Identifier: BSD-2-Clause
"""Processes of Python's multiprocessing, forked from one that has the device
open: each opens it, and all have queue pairs and keys of their own. Inherited
objects can be released. Exits with 1 and a line if not."""
import ctypes
import multiprocessing
import sys

CHILDREN = 4
verbs = ctypes.CDLL(None, use_errno=True)  # as the program sees them, preloaded
for name in ("get_device_list", "open_device", "alloc_pd", "create_cq", "reg_mr", "create_qp"):
    getattr(verbs, "ibv_" + name).restype = ctypes.c_void_p


class QpInit(ctypes.Structure):
    _fields_ = [("qp_context", ctypes.c_void_p), ("send_cq", ctypes.c_void_p),
                ("recv_cq", ctypes.c_void_p), ("srq", ctypes.c_void_p),
                ("cap", ctypes.c_uint32 * 5), ("qp_type", ctypes.c_int),
                ("sq_sig_all", ctypes.c_int)]


class Mr(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("pd", ctypes.c_void_p),
                ("addr", ctypes.c_void_p), ("length", ctypes.c_size_t),
                ("handle", ctypes.c_uint32), ("lkey", ctypes.c_uint32), ("rkey", ctypes.c_uint32)]


class Qp(ctypes.Structure):
    _fields_ = [("objects", ctypes.c_void_p * 6), ("handle", ctypes.c_uint32),
                ("qp_num", ctypes.c_uint32)]


def made(pointer):
    if not pointer:
        sys.exit("a handle is NULL, errno %d" % ctypes.get_errno())
    return ctypes.c_void_p(pointer)


class Rig:
    """A device that is open, with a queue pair and a region."""

    def __init__(self):
        self.buffer = ctypes.create_string_buffer(4096)
        devices = ctypes.cast(made(verbs.ibv_get_device_list(None)),
                              ctypes.POINTER(ctypes.c_void_p))
        self.context = made(verbs.ibv_open_device(made(devices[0])))
        self.pd = made(verbs.ibv_alloc_pd(self.context))
        self.cq = made(verbs.ibv_create_cq(self.context, 16, None, None, 0))
        self.mr = made(verbs.ibv_reg_mr(self.pd, self.buffer, ctypes.c_size_t(4096), 1))
        init = QpInit(None, self.cq, self.cq, None, (1, 1, 1, 1, 0), 2, 0)
        self.qp = made(verbs.ibv_create_qp(self.pd, ctypes.byref(init)))

    def numbers(self):
        return (ctypes.cast(self.qp, ctypes.POINTER(Qp)).contents.qp_num,
                ctypes.cast(self.mr, ctypes.POINTER(Mr)).contents.rkey)

    def close(self):
        return [verbs.ibv_destroy_qp(self.qp), verbs.ibv_dereg_mr(self.mr),
                verbs.ibv_destroy_cq(self.cq), verbs.ibv_dealloc_pd(self.pd),
                verbs.ibv_close_device(self.context)] == 5 * [0]


def child(inherited, all_are_there, results):
    if inherited.close():
        own = Rig()
        numbers = own.numbers()
        all_are_there.wait()
        results.put(numbers if own.close() else None)


def main():
    fork = multiprocessing.get_context("fork")
    own = Rig()
    # Once with the device open, once after it was closed.
    for turn in range(2):
        results, barrier = fork.Queue(), fork.Barrier(CHILDREN, timeout=60)
        children = [fork.Process(target=child, args=(own, barrier, results))
                    for _ in range(CHILDREN)]
        for c in children:
            c.start()
        found = [results.get(timeout=60) for c in children]
        for c in children:
            c.join()
        if None in found or any(c.exitcode for c in children):
            sys.exit("a child failed: %s" % [c.exitcode for c in children])
        found.append(own.numbers())
        for what, numbers in zip(("QP numbers", "R_Keys"), zip(*found)):
            if len(set(numbers)) != CHILDREN + 1:
                sys.exit("%s are not distinct: %s" % (what, sorted(numbers)))
        if turn == 0:
            if not own.close():
                sys.exit("the parent cannot release its handles")
            own = Rig()


if __name__ == "__main__":
    main()
