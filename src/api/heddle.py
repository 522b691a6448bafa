# SPDX-License-Identifier: BSD-2-Clause
"""InfiniBand fabrics in software: libheddle for Python.

A run of a scenario, as 'heddle sim' does it, and its tables:

    import heddle
    run = heddle.run("x.yaml", {"run.seed": 2, "traffic.0.load": "50%"})
    run.table("traffic")       # a pandas frame, or rows as dicts without pandas
    run.rows("traffic")[0]["p99"]

A network under a simulator of one's own, exact to the picosecond:

    with heddle.Network("x.yaml") as net:
        net.send("h0", "h5", 65536, done=lambda net, lost: print(net.now))
        net.run_until(10_000_000)

What is refused is a heddle.Error with the line that the program would print.
Needs Python 3.7 and the shared library: the file that HEDDLE_LIBRARY names, or the one that was
installed with this module, or the one that the loader finds.
"""

import ctypes
import operator
import os
import signal
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p,
                    c_double, c_int, c_int64, c_size_t, c_uint, c_uint32,
                    c_uint64, c_void_p)

__all__ = ["Error", "Lacking", "Misuse", "Network", "Refused", "Run", "Stopped",
           "run", "run_text", "set_memory", "set_threads", "version"]

_ABI = 1
_NEVER = 2**64 - 1
_NO_CLASS = 2**32 - 1


class Error(Exception):
    """Why a call failed, in one line; `line` and `column` of a file, or 0."""

    def __init__(self, text, line=0, column=0):
        super().__init__(text)
        self.line = line
        self.column = column


class Misuse(Error, ValueError):
    """An invalid call or setting."""


class Refused(Error):
    """A file, or what it says, is refused."""


class Lacking(Error):
    """The system lacks memory, a file's space or the like."""


class Stopped(Error):
    """The progress function has ended the run."""


_ERRORS = {2: Misuse, 3: Refused, 4: Lacking, 5: Stopped}


class _Error(Structure):
    _fields_ = [("size", c_size_t), ("code", c_int), ("line", c_uint),
                ("column", c_uint), ("text", c_char * 1000)]

    def __init__(self):
        super().__init__()
        self.size = ctypes.sizeof(self)


class _Setting(Structure):
    _fields_ = [("path", c_char_p), ("value", c_char_p)]


_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_uint64)
_DONE = CFUNCTYPE(None, c_void_p, c_void_p, c_int)


class _Options(Structure):
    _fields_ = [("size", c_size_t), ("settings", POINTER(_Setting)),
                ("n_settings", c_size_t), ("all", c_int), ("pcap", c_char_p),
                ("trace", c_char_p), ("progress", _PROGRESS),
                ("context", c_void_p)]


def _load():
    name = "libheddle.so.%d" % _ABI
    # A wheel has the library next to this file, an installation has it in <prefix>/lib and this
    # file in <prefix>/lib/python3.x/dist-packages. The loader finds all others by name.
    folder = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(folder, name), os.path.join(folder, "..", "..", name)]
    library = ctypes.CDLL(os.environ.get("HEDDLE_LIBRARY") or
                          next(filter(os.path.exists, places), name))
    handle, number = c_void_p, c_uint32
    error = POINTER(_Error)
    for function, result, *arguments in (
            ("abi", c_uint),
            ("version", c_char_p),
            ("set_threads", None, c_uint),
            ("set_memory", None, c_uint64),
            ("run_open", c_int, c_char_p, POINTER(_Options), POINTER(handle),
             error),
            ("run_load", c_int, c_char_p, c_size_t, c_char_p,
             POINTER(_Options), POINTER(handle), error),
            ("run_go", c_int, handle, error),
            ("run_met", c_int, handle),
            ("run_checksum", c_uint64, handle),
            ("run_close", None, handle),
            ("run_n_tables", c_size_t, handle),
            ("run_table_at", handle, handle, c_size_t),
            ("table_name", c_char_p, handle),
            ("table_title", c_char_p, handle),
            ("table_rows", c_size_t, handle),
            ("table_columns", c_size_t, handle),
            ("column_name", c_char_p, handle, c_size_t),
            ("column_unit", c_char_p, handle, c_size_t),
            ("cell_kind", c_int, handle, c_size_t, c_size_t),
            ("cell_text", c_char_p, handle, c_size_t, c_size_t),
            ("cell_real", c_double, handle, c_size_t, c_size_t),
            ("cell_uint", c_uint64, handle, c_size_t, c_size_t),
            ("cell_int", c_int64, handle, c_size_t, c_size_t),
            ("net_open", c_int, c_char_p, POINTER(_Options), POINTER(handle),
             error),
            ("net_load", c_int, c_char_p, c_size_t, c_char_p,
             POINTER(_Options), POINTER(handle), error),
            ("net_hosts", number, handle),
            ("net_host_name", c_char_p, handle, number),
            ("net_host", c_int, handle, c_char_p, POINTER(number), error),
            ("net_class", c_int, handle, c_char_p, POINTER(number), error),
            ("net_send", c_int, handle, number, number, c_uint64, number,
             _DONE, c_void_p, error),
            ("net_now", c_uint64, handle),
            ("net_pending", c_uint64, handle),
            ("net_run_until", c_int, handle, c_uint64, error),
            ("net_step", c_int, handle, c_uint64, error),
            ("net_close", None, handle)):
        entry = getattr(library, "hd_" + function)
        entry.restype = result
        entry.argtypes = arguments
    if library.hd_abi() != _ABI:
        raise ImportError("libheddle has interface %d, and this module needs "
                          "%d" % (library.hd_abi(), _ABI))
    return library


_library = _load()


class _Signals:
    """While C computes in the main thread: keeps what a signal handler raises.

    Python runs a signal handler at the start of the next function that C
    calls, where ctypes prints its exception and drops it (KeyboardInterrupt).
    Here handlers run at the same moment, and the first exception is kept in
    `raised`, which ends the call."""

    def __init__(self):
        self.raised = []
        self._handlers = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in range(1, signal.NSIG):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._handle)
        return self

    def _handle(self, number, frame):
        try:
            self._handlers[number](number, frame)
        except BaseException as error:
            self.raised.append(error)

    def __exit__(self, *_):
        for number, handler in self._handlers.items():
            # Unless a callback has set another one meanwhile.
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def call(self, function, *arguments):
        """Calls C; what was raised meanwhile is raised here."""
        try:
            with self:
                _call(function, *arguments)
        finally:
            if self.raised:
                raise self.raised[0]

    def guard(self, function, *arguments):
        """A callback of C's: its result, or None if something was raised."""
        try:
            return None if self.raised else function(*arguments)
        except BaseException as error:
            self.raised.append(error)
            return None


def _call(function, *arguments):
    error = _Error()
    if function(*arguments, byref(error)):
        raise _ERRORS[error.code](error.text.decode(errors="replace"),
                                  error.line, error.column)


def _whole(value, what, most):
    """A number that C can hold: ctypes would cut off what does not fit."""
    if isinstance(value, bool):
        raise TypeError("%s is a whole number, not %r" % (what, value))
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError("%s is a whole number, not %r" % (what, value)) from None
    if not 0 <= value <= most:
        raise Misuse("%s is 0 to %d, not %d" % (what, most, value))
    return value


def _text(value):
    """Text for C, where it would end at the first NUL."""
    if b"\0" in value:
        raise Misuse("%r has a NUL character in it" % value)
    return value


def _function(value, what):
    if value is not None and not callable(value):
        raise TypeError("%s is a function, not %r" % (what, value))
    return value


def _word(value):
    """What a setting says in YAML."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _bytes(path):
    return None if path is None else _text(os.fsencode(path))


def _options(settings, all=False, pcap=None, trace=None, progress=None):
    items = list(dict(settings or {}).items())
    options = _Options(size=ctypes.sizeof(_Options), all=bool(all),
                       pcap=_bytes(pcap), trace=_bytes(trace),
                       n_settings=len(items))
    # ctypes keeps alive what a struct refers to, arrays included.
    options.settings = (_Setting * max(1, len(items)))(
        *[_Setting(_text(str(path).encode()), _text(_word(value).encode()))
          for path, value in items])
    if progress:
        options.progress = progress
    return options


def _open(kind, source, name, options):
    handle = c_void_p()
    if name is None:
        if source is None:
            raise TypeError("which file?")
        _call(getattr(_library, "hd_%s_open" % kind), _bytes(source),
              byref(options), byref(handle))
    else:
        text = source.encode() if isinstance(source, str) else bytes(
            memoryview(source))
        _call(getattr(_library, "hd_%s_load" % kind), text, len(text),
              _bytes(name), byref(options), byref(handle))
    return handle


def version():
    """The version of the library, for example "0.2.0"."""
    return _library.hd_version().decode()


def set_threads(n):
    """Threads that a run may use: 1 unless this says otherwise, 0 for as many
    as are worth it; results do not depend on it."""
    _library.hd_set_threads(_whole(n, "the number of threads", 2**32 - 1))


def set_memory(n):
    """Bytes that the process may take from now on, before a run is Lacking
    something; 0: any."""
    _library.hd_set_memory(_whole(n, "the number of bytes", 2**64 - 1))


# ---- runs -------------------------------------------------------------------

def _cell(table, row, column):
    kind = _library.hd_cell_kind(table, row, column)
    if kind == 1:
        return _library.hd_cell_text(table, row, column).decode()
    if kind == 2:
        return _library.hd_cell_uint(table, row, column)
    if kind == 3:
        return _library.hd_cell_int(table, row, column)
    if kind == 4:
        return _library.hd_cell_real(table, row, column)
    if kind == 5:
        return bool(_library.hd_cell_real(table, row, column))
    return None


class _Table:
    def __init__(self, table):
        lib = _library
        columns = range(lib.hd_table_columns(table))
        self.title = lib.hd_table_title(table).decode()
        self.columns = [lib.hd_column_name(table, c).decode() for c in columns]
        self.units = {lib.hd_column_name(table, c).decode():
                      lib.hd_column_unit(table, c).decode() for c in columns}
        self.rows = [{name: _cell(table, r, c)
                      for c, name in enumerate(self.columns)}
                     for r in range(lib.hd_table_rows(table))]


class Run:
    """What came of a run. `met`: every goal of the scenario was met and
    there is no deadlock; `checksum`: one number that all of it enters."""

    def __init__(self, handle):
        lib = _library
        self.met = bool(lib.hd_run_met(handle))
        self.checksum = lib.hd_run_checksum(handle)
        self._tables = {}
        for i in range(lib.hd_run_n_tables(handle)):
            table = lib.hd_run_table_at(handle, i)
            self._tables[lib.hd_table_name(table).decode()] = _Table(table)

    @property
    def tables(self):
        """The names of its tables, as 'heddle sim --json' has them."""
        return list(self._tables)

    def _find(self, name):
        if name not in self._tables:
            raise KeyError("no table '%s', but %s"
                           % (name, ", ".join(self._tables)))
        return self._tables[name]

    def rows(self, name):
        """A list of dicts; None where there is no value."""
        return self._find(name).rows

    def units(self, name):
        """By column: "us", or "" for what has none."""
        return self._find(name).units

    def frame(self, name):
        """A pandas frame, whose attrs has title and units."""
        import pandas
        table = self._find(name)
        frame = pandas.DataFrame(table.rows, columns=table.columns)
        frame.attrs.update(title=table.title, units=table.units)
        return frame

    def table(self, name):
        """A pandas frame if pandas is there, or a list of dicts."""
        self._find(name)
        try:
            return self.frame(name)
        except ImportError:
            return self.rows(name)


def _run(source, name, settings, progress, **options):
    signals = _Signals()
    _function(progress, "progress")

    def look(_, share, now):
        goes_on = signals.guard(progress, share, now) if progress else True
        return int(goes_on is not False and not signals.raised)

    look = _PROGRESS(look)
    handle = _open("run", source, name,
                   _options(settings, progress=look, **options))
    try:
        signals.call(_library.hd_run_go, handle)
        return Run(handle)
    finally:
        _library.hd_run_close(handle)


def run(file, settings=None, *, all=False, pcap=None, trace=None,
        progress=None):
    """Runs a scenario's file, with settings as --set has them.

    all: tables have every port and flow. pcap, trace: files to write.
    progress(share, now) is called now and then; False ends the run, with
    Stopped."""
    return _run(file, None, settings, progress, all=all, pcap=pcap,
                trace=trace)


def run_text(text, settings=None, *, name="scenario", **options):
    """The same of a scenario's text; errors call it `name`, and files that it
    names are in the folder of that."""
    return _run(text, name, settings, options.pop("progress", None), **options)


# ---- networks ---------------------------------------------------------------

class Network:
    """The fabric of a scenario that carries messages of a program.

    Hosts are numbers from 0 or names; times are whole picoseconds."""

    def __init__(self, file=None, settings=None, *, text=None,
                 name="scenario", pcap=None, trace=None):
        self._handle = None
        self._inside = False
        self._signals = _Signals()
        self._waiting = {}
        self._next = 1
        self._arrived = _DONE(self._arrive)
        self._look = _PROGRESS(lambda *_: int(not self._signals.raised))
        self._handle = _open("net", file if text is None else text,
                             None if text is None else name,
                             _options(settings, pcap=pcap, trace=trace,
                                      progress=self._look))
        self.hosts = [_library.hd_net_host_name(self._handle, i).decode()
                      for i in range(_library.hd_net_hosts(self._handle))]
        self._numbers = {host: i for i, host in enumerate(self.hosts)}

    def _open_handle(self):
        if self._handle is None:
            raise Misuse("the network is closed")
        return self._handle

    def _arrive(self, context, _, lost):
        done = self._waiting.pop(context)
        self._inside = True
        self._signals.guard(done, self, bool(lost))
        self._inside = False

    def _host(self, host):
        if isinstance(host, str):
            if host not in self._numbers:
                raise Misuse("unknown host '%s'" % host)
            return self._numbers[host]
        host = _whole(host, "a host", 2**32 - 1)
        if host >= len(self.hosts):
            raise Misuse("unknown host %d" % host)
        return host

    def _class(self, name):
        number = c_uint32(_NO_CLASS)
        if name is not None:
            if not isinstance(name, str):
                raise TypeError("a class has a name, not %r" % (name,))
            _call(_library.hd_net_class, self._handle, _text(name.encode()),
                  byref(number))
        return number.value

    def send(self, source, target, size, traffic_class=None, done=None):
        """A message of `bytes` bytes is ready at its source now. When its last
        byte is there, done(net, lost) is called; `lost`: not all of it
        came. It may send again."""
        handle = self._open_handle()
        size = _whole(size, "the size of a message", 2**40)
        _function(done, "done")
        source, target = self._host(source), self._host(target)
        number = self._class(traffic_class)
        context = 0
        if done:
            context = self._next
            self._next += 1
            self._waiting[context] = done
        try:
            _call(_library.hd_net_send, handle, source, target, size, number,
                  self._arrived if done else _DONE(), context)
        except Error:
            self._waiting.pop(context, None)
            raise

    @property
    def now(self):
        """Picoseconds since the scenario's beginning."""
        return _library.hd_net_now(self._open_handle())

    @property
    def pending(self):
        """Messages that were sent and are not done."""
        return _library.hd_net_pending(self._open_handle())

    def run_until(self, time):
        """Everything up to and including that time, which is now afterwards.
        What a callback raises is raised here."""
        self._go(_library.hd_net_run_until, time)

    def _go(self, function, time):
        time = _whole(time, "a time in picoseconds", _NEVER)
        try:
            self._signals.call(function, self._open_handle(), time)
        finally:
            self._signals = _Signals()

    def run(self):
        """Until the last message is done; returns the time."""
        self.run_until(_NEVER)
        return self.now

    def step(self, limit=_NEVER):
        """No further than to the instant at which the next message is done;
        returns the time."""
        self._go(_library.hd_net_step, limit)
        return self.now

    def close(self):
        """Messages that are under way are never done."""
        if self._inside:
            raise Misuse("a network cannot be closed from its own callback")
        if self._handle is not None:
            _library.hd_net_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()
