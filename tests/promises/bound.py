# Delay bounds of reserved rows from network calculus.
#
# Written from docs/timing-rules.md (rules T1 to T14) and docs/qos.md, without the source of admission, arbitration and bounds.
#
# Servers. Each output port (of a host or a switch) is a server for each VL. A packet is `ready` at a server at the instant
# of T6 (a host: when it is made, T13) and `granted` there W later. What follows a grant is constant:
#     ready at the next server = grant + P + r + a + max(0, D_in - D_out),   delivery = last grant + D + P,
# so the latency is the sum of these constants and of W over the path (total flow analysis). W is bounded for each server.
#
# Arrivals. A row with period T and jitter J has at most floor((t + J) / T) + 1 packets that become ready in a closed window
# of length t. J is 0 at the source; behind a server J grows by the bound of W there, since the least W is 0. All packets
# that came over one link are at least their durations apart, so a group of rows of one input has at most
#     min(sum of its rows, (t / duration of a block) + largest packet)
# blocks in a window of length t (one duration D for all: floor(t / D) + 1 packets).
#
# Service of a VL of the low table (T10). Let its entries have the weights w_k, in table order, and let others(k) be the
# time that the entries of other VLs between entry k - 1 and entry k take if those VLs always have packets: an entry of
# weight w sends ceil(w / blk) packets of one size, or at most w - 1 blocks and one largest packet of mixed sizes. A
# visit to entry k serves at least w_k blocks (rounded up to packets if all have one size) while packets wait. A packet
# before which Q blocks of its VL must be sent is granted in the m-th visit, where m is the least number with
# w_k+1 + ... + w_k+m > Q. So it is granted at most
#     S(Q) = R + max over k (others(k+1) + ... + others(k+m)) + (duration of Q blocks) + H(S)
# after the beginning of a busy period of its VL. R is the longest packet of any VL, which may just have started. H is the
# time of packets of the high table (limit 255) that arrive until then, bounded by their token buckets. A busy period
# begins with the pointer at any entry and nothing left of it.
# A VL of the high table waits for R, its own packets and those of other high VLs.
#
# Delay. Packets of one VL of a host are served in their order; so are those of a switch with `arbitration: oldest`: before a packet
# that becomes ready t after the beginning of the busy period, Q(t) = arrivals of all inputs in [0, t] less itself, and
# W = max over t of S(Q(t)) - t. With `arbitration: round-robin` a packet of input i waits for
#   (a) all packets of its VL that arrive before it is granted: Q = own arrivals in [0, t] and others' in [0, S(Q)], or
#   (b) from the instant on at which its input has packets: its n predecessors of this input, and n + 1 packets
#       of each other input;
# each of both is a bound, W is the lower one.
#
# Credits (T5). The bound assumes that no packet of the VL ever waits for credits. A packet holds its blocks downstream from its grant until
# the tail has left the next buffer and the credit has returned. This time is at most
#     O = P + r + a + max(0, D_in - D_out) + W' + D' + P + D(6)     (the last link: P + D + P + D(6)),
# and the departures of the VL over this link within any window of length O must fit the buffer. If they do not, there is
# no bound. (If they do, the first packet that waits for a credit cannot exist.)
#
# `queueing: cioq` (T9): the crossbar in front of an output is a server of its own. It gives each VL one packet in turn; a
# transfer takes D / speedup, or until the tail has arrived, at most D_in. The packet is ready for the link at most
# max(0, D_in - D) after this grant, in the order of these grants. Output buffers must hold what the window of a packet's
# stay there lets through.
#
# Fewer VLs (docs/qos.md, "Which VL a class has"): from three VLs on DBTS, DB and BE have VLs of their own. With two, DBTS
# and DB share one, which has entries in the high table if a DBTS row is reserved there. With one, best effort shares it: no bound.
#
# Multicast: each port of the tree serves one copy. The space of an input buffer is free when the last copy has left. The
# bound of a row is that of its latest member.
#
# `order: fifo`, where all that comes by one input leaves by one output: the next packet of an input is ready `a` after
# the tail of the one before has left (T6), so a visit may send one packet only; w_k is one packet. Otherwise packets
# wait for others that leave the same buffer, or are read at the same input (T8): no bound.
#
# Tables. heddle does not print the tables that reservations make, so they are made here by the words of docs/qos.md: a
# frame of 64 entries of 255, ceil(reserved rate / link rate * 16320) slots for each row, full entries and one with the
# rest, BE first; then weights are scaled so that a full entry has 66 blocks, and those of BE are 1; `place: spread`: the free place that is farthest from the entries of the same VL, the lowest of equals.
# (`heddle qos table` prints the largest gap of each VL: 200 of 200 random tables agree.)
import math

import generate

OVERHEAD = 26
GRH = 40
SLOTS = 16320
QUANTUM = 66  # blocks of 4096 bytes and the largest headers
UPDATE = 6                   # bytes of a flow-control update
MOST_STEPS = 20000


class NoBound(Exception):
    pass


def blocks(size):
    return -(-size // 64)


class Flow:
    """One reserved row on its path, or on its tree."""

    def __init__(self, row, size):
        self.row, self.size = row, size
        self.blocks = blocks(size)
        self.period = 8 * row.payload / row.rate
        self.first = None
        self.after = {}         # port name -> ports that follow
        self.jitter = {}        # port name -> jitter of the instants at which packets are ready there


class Port:
    """An output port, or the crossbar of a switch in front of one."""

    def __init__(self, name, rate, is_host=False):
        self.name, self.rate, self.is_host = name, rate, is_host
        self.flows = {}         # flow -> the port before (None: its packets are made here)
        self.wait = {}          # (VL, name of the port before) -> bound of W
        self.vls = 15
        self.buffer = None      # blocks of a VL behind this port
        self.link = None        # of a crossbar: its link

    def duration(self, size):
        return math.ceil(8e12 * size / self.rate) * 1e-12

    def spacing(self, size):
        """Least time from one grant to the next."""
        return self.duration(size)

    def vl(self, flow):
        """The VL of a flow, by the name of what it carries: with two VLs DBTS and DB share one."""
        return flow.row.kind if self.vls > 2 else 'reserved'

    def of_vl(self, vl):
        return [f for f in self.flows if self.vl(f) == vl]

    def used(self):
        return sorted({self.vl(f) for f in self.flows})

    def took(self, flow):
        return self.wait[(self.vl(flow), self.flows[flow].name if self.flows[flow] else None)]


class Crossbar(Port):
    def __init__(self, link, speedup, slowest):
        super().__init__('crossbar of ' + link.name, link.rate)
        self.link, self.speedup, self.slowest, self.vls = link, speedup, slowest, link.vls

    def duration(self, size):
        """Until x1, at most: the tail may still be arriving."""
        return max(self.spacing(size), math.ceil(8e12 * size / self.slowest) * 1e-12)

    def spacing(self, size):
        return self.link.duration(size) / self.speedup


def add_entries(table, vl, weight, place):
    own = [i for i in range(64) if table[i] and table[i][0] == vl]
    while weight > 0:
        part = min(255, weight)
        weight -= part
        free = [i for i in range(64) if not table[i]]
        if not free:
            raise NoBound('more than 64 entries')
        if place == 'first' or not own:
            at = free[0]
        else:
            at = max(free, key=lambda i: (min(min((i - o) % 64, (o - i) % 64) for o in own), -i))
        table[at] = (vl, part)
        own.append(at)


def visit_time(port, weight, sizes):
    """The longest visit to an entry of a VL that always has packets of these sizes."""
    if len(sizes) == 1:
        size = next(iter(sizes))
        return -(-weight // blocks(size)) * port.duration(size)
    # At most weight - 1 blocks before the last packet.
    return ((weight - 1) * 64 * 8) / port.rate + port.duration(max(sizes))


class LowService:
    """S(Q) without H and without the own packets' time: what waiting for visits costs."""

    def __init__(self, port, table, vl, own_sizes, other_sizes, one_packet):
        entries = [e for e in table if e]
        places = [i for i, e in enumerate(entries) if e[0] == vl]
        if not places:
            raise NoBound('no entry for the VL')
        least = min(blocks(s) for s in own_sizes)
        self.weights, self.others = [], []
        for k, place in enumerate(places):
            weight = entries[place][1]
            if one_packet:
                weight = least
            elif len(own_sizes) == 1:
                weight = -(-weight // least) * least
            wait = 0.0
            at = (place - 1) % len(entries)
            while entries[at][0] != vl:
                wait += visit_time(port, entries[at][1], other_sizes[entries[at][0]])
                at = (at - 1) % len(entries)
            self.weights.append(weight)
            self.others.append(wait)  # before this entry
        self.round_weight, self.round_wait = sum(self.weights), sum(self.others)
        self.memory = {}

    def wait(self, ahead):
        rounds, rest = divmod(ahead, self.round_weight)
        if rest not in self.memory:
            worst = 0.0
            count = len(self.weights)
            for k in range(count):
                served, wait, m = 0, 0.0, 0
                while served <= rest:
                    served += self.weights[(k + m) % count]
                    wait += self.others[(k + m) % count]
                    m += 1
                worst = max(worst, wait)
            self.memory[rest] = worst
        return rounds * self.round_wait + self.memory[rest]


class HighService:
    def wait(self, ahead):
        return 0.0


class Server:
    """One VL of one output port."""

    def __init__(self, port, members, service, longest, high, oldest):
        self.port, self.service, self.longest, self.high, self.oldest = port, service, longest, high, oldest
        self.inputs = {}
        for flow, came in members:
            self.inputs.setdefault(came.name if came else None, []).append((flow, came))
        self.block_time = max(port.duration(f.size) / f.blocks for f, _ in members)
        load = sum(f.blocks * self.block_time / f.period for f, _ in members)
        load += sum(d / f.period for f, d, _ in high)
        if isinstance(service, LowService):
            # Service of a round: own blocks in the time of own and other entries.
            share = service.round_weight * self.block_time / (service.round_weight * self.block_time + service.round_wait)
            left = 1 - sum(d / f.period for f, d, _ in high)
            if sum(f.blocks * self.block_time / f.period for f, _ in members) >= share * left:
                raise NoBound('the VL has less than its load')
        if load >= 1:
            raise NoBound('the port has less than its load')

    def arrived(self, name, t):
        """Blocks of one input that become ready within a closed window of length t."""
        total = 0
        for flow, came in self.inputs[name]:
            total += flow.blocks * (math.floor((t + flow.jitter[self.port.name]) / flow.period + 1e-12) + 1)
        came = self.inputs[name][0][1]
        if came is not None:
            total = min(total, spaced([f for f, _ in self.inputs[name]], came, t))
        return total

    def urgent(self, t):
        """Time of packets of the high table within t, by token buckets."""
        return sum(d * (1 + (t + jitter) / f.period) for f, d, jitter in self.high)

    def start(self, ahead):
        """S(Q): latest grant of a packet with `ahead` blocks before it."""
        base = self.longest + self.service.wait(ahead) + ahead * self.block_time
        if not self.high:
            return base
        rate = sum(d / f.period for f, d, _ in self.high)
        return (base + self.urgent(0)) / (1 - rate)

    def instants(self, name):
        """Instants at which packets of an input may become ready, in order."""
        import heapq
        heap = []
        for flow, _ in self.inputs[name]:
            jitter = flow.jitter[self.port.name]
            heapq.heappush(heap, (0.0, flow.period, jitter))
        seen = -1.0
        while heap:
            t, period, jitter = heapq.heappop(heap)
            step = math.floor((t + jitter) / period + 1e-9) + 1
            heapq.heappush(heap, (step * period - jitter, period, jitter))
            if t > seen:
                seen = t
                yield t

    def bound(self, name):
        if self.oldest or len(self.inputs) == 1:
            return self.first_come(name)
        return min(self.blind(name), self.turns(name))

    def largest(self, name):
        return max(f.blocks for f, _ in self.inputs[name])

    def least(self, name):
        return min(f.blocks for f, _ in self.inputs[name])

    def steps(self, names):
        import heapq
        return heapq.merge(*(self.instants(n) for n in names))

    def first_come(self, name):
        worst = 0.0
        for count, t in enumerate(self.steps(self.inputs)):
            total = sum(self.arrived(n, t) for n in self.inputs)
            worst = max(worst, self.start(total - self.least(name)) - t)
            # The busy period ends before t at the latest if all that arrived is sent by then.
            if count and self.start(total) <= t:
                return worst
            if count > MOST_STEPS:
                raise NoBound('a busy period does not end')
        return worst

    def blind(self, name):
        worst = 0.0
        for count, t in enumerate(self.instants(name)):
            own = self.arrived(name, t) - self.least(name)
            until = self.start(own)
            for _ in range(200):
                others = sum(self.arrived(n, until) for n in self.inputs if n != name)
                then = self.start(own + others)
                if then <= until:
                    break
                until = then
            else:
                return math.inf
            worst = max(worst, until - t)
            if count and until <= t:
                return worst
            if count > MOST_STEPS:
                return math.inf
        return worst

    def turns(self, name):
        worst = 0.0
        others = sum(self.largest(n) for n in self.inputs if n != name)
        least = self.least(name)
        for count, t in enumerate(self.instants(name)):
            own = self.arrived(name, t) - least
            until = self.start(own + (own // least + 1) * others)
            worst = max(worst, until - t)
            if count and until <= t:
                return worst
            if count > MOST_STEPS:
                return math.inf
        return worst


class Network:
    """The ports that reserved rows of one case use."""

    def __init__(self, case, fabric):
        self.case, self.fabric = case, fabric
        scenario = case.scenario['fabric']
        self.switch = scenario.get('switch', {})
        self.delay = 80e-9 + 20e-9
        self.oldest = self.switch.get('arbitration') == 'oldest'
        self.fifo = self.switch.get('order') == 'fifo'
        self.cioq = self.switch.get('queueing') == 'cioq'
        self.propagation = seconds(scenario['link'].get('propagation', '5ns'))
        self.links = [(link['ports'], rate(link['rate'])) for link in scenario.get('links', [])]
        self.vls = [(port['ports'], port['vls']) for port in case.scenario['qos'].get('ports', [])]
        self.slowest = min([generate.LINK] + [value for _, value in self.links])
        self.ports, self.flows = {}, []
        rows = case.scenario['traffic']
        jobs = bool(case.scenario.get('jobs'))
        self.best_effort_sizes = {r['payload'] + OVERHEAD for r in rows if r['class'] == 'be'} or {OVERHEAD + 1}
        if jobs:
            self.best_effort_sizes |= {4096 + OVERHEAD, OVERHEAD}
        if case.has('routers'):
            self.best_effort_sizes |= {s + GRH for s in self.best_effort_sizes}
        self.largest = max(self.best_effort_sizes | {self.size(r['payload'], 'group' in r) for r in rows})

    def size(self, payload, group):
        return payload + OVERHEAD + (GRH if group else 0)

    def add(self, row):
        flow = Flow(row, self.size(row.payload, row.group))
        self.flows.append(flow)
        for way in self.fabric.ways(self.case, row):
            came = None
            for at, (name, far) in enumerate(way):
                if name not in self.ports:
                    port = Port(name, self.of_link(self.links, name, far, generate.LINK), ':' not in name)
                    port.vls = self.of_link(self.vls, name, far, self.case.scenario['qos']['vls'])
                    if port.vls == 1:
                        raise NoBound('one VL')
                    port.buffer = self.buffer_of(at + 1 == len(way))
                    if self.cioq and not port.is_host:
                        port.crossbar = Crossbar(port, float(self.switch.get('speedup', 2)), self.slowest)
                        port.crossbar.buffer = self.buffer_in('output_buffer', self.switch)
                        self.ports[port.crossbar.name] = port.crossbar
                    self.ports[name] = port
                port = self.ports[name]
                if self.cioq and not port.is_host:
                    came = self.step(flow, came, port.crossbar)
                came = self.step(flow, came, port)

    def step(self, flow, came, port):
        port.flows[flow] = came
        flow.jitter[port.name] = 0.0
        flow.after.setdefault(port.name, [])
        if came is None:
            flow.first = port
        elif port not in flow.after[came.name]:
            flow.after[came.name].append(port)
        return port

    def of_link(self, given, name, far, value):
        """The last of (ports, value) that fits the link between two ports."""
        for ports, other in given:
            trunk = ':' in name and ':' in far
            if ports == 'trunks' and trunk or ports == 'hosts' and not trunk or any(
                    ports in (end, end.split(':')[0]) for end in (name, far)):
                value = other
        return value

    def buffer_of(self, sink):
        return self.buffer_in('input_buffer', self.case.scenario['fabric'].get('host', {}) if sink else self.switch)

    def buffer_in(self, key, where):
        text = where.get(key, '4 packets')
        if text.endswith('packets'):
            return int(text.split()[0]) * blocks(self.largest)
        return int(text.replace('KiB', '')) * 1024 // 64

    def slots(self, flow, port):
        row = flow.row
        margin = float(self.case.scenario['qos']['admission'].get('margin', '5%').rstrip('%')) / 100
        wire = row.rate * flow.blocks * 64 / row.payload * (1 + margin)
        return math.ceil(wire / port.rate * SLOTS - 1e-9)

    def low_table(self, port):
        place = self.case.scenario['qos']['admission'].get('place', 'spread')
        table = [None] * 64
        add_entries(table, 'be', self.case.best_effort_weight, place)
        add_entries(table, 'film', sum(self.slots(f, port) for f in port.flows if f.row.kind == 'film'), place)
        # Short entries: a full one has the weight of the largest packet, one of best effort sends one packet.
        return [e and (e[0], 1 if e[0] == 'be' else -(-e[1] * QUANTUM // 255)) for e in table]

    def server(self, port, vl):
        members = [(f, port.flows[f]) for f in port.of_vl(vl)]
        sizes = {f.size for f, _ in members}
        longest = port.duration(max(self.best_effort_sizes | {f.size for f in port.flows}))
        high = []
        if isinstance(port, Crossbar):
            # VLs in turn, a packet each (T9).
            turns = {'be': self.best_effort_sizes}
            for flow in port.flows:
                turns.setdefault(port.vl(flow), set()).add(flow.size)
            service = LowService(port, [(v, 1) for v in sorted(turns)], vl, sizes, turns, True)
        elif vl != 'film' and any(f.row.kind == 'call' for f, _ in members):
            service = HighService()
        else:
            service = LowService(port, self.low_table(port), 'film', sizes, {'be': self.best_effort_sizes}, self.fifo and not port.is_host)
            high = [(f, port.duration(f.size), f.jitter[port.name]) for f in port.of_vl('call')]
        in_order = self.oldest or port.is_host or self.cioq and not isinstance(port, Crossbar)
        return Server(port, members, service, longest, high, in_order)

    def order(self):
        """Ports so that each comes after those that feed it."""
        done, out = set(), []
        todo = list(self.ports.values())
        while todo:
            ready = [p for p in todo if all(c is None or c.name in done for c in p.flows.values())]
            if not ready:
                raise NoBound('rows feed each other in a circle')
            for port in ready:
                done.add(port.name)
                out.append(port)
            todo = [p for p in todo if p.name not in done]
        return out

    def solve(self):
        if self.fifo:
            self.check_fifo()
        for port in self.order():
            for vl in port.used():
                server = self.server(port, vl)
                for name in server.inputs:
                    port.wait[(vl, name)] = server.bound(name)
            for flow in port.flows:
                for then in flow.after[port.name]:
                    least, most = self.passage(flow, port, then)
                    flow.jitter[then.name] = flow.jitter[port.name] + port.took(flow) + most - least
        for port in self.ports.values():
            self.check_buffer(port)
        return {f.row.name: self.latency(f, f.first) for f in self.flows}

    def check_fifo(self):
        """One reader serves an input port (T8): all that comes there, best effort too, must leave by one output."""
        behind = {}
        rows = [f.row for f in self.flows] + [generate.Row(r['name'], 'be', int(r['source'][1:]), int(r['destination'][1:]), 0, 0)
                                              for r in self.case.scenario['traffic'] if r['class'] == 'be']
        for row in rows:
            for way in self.fabric.ways(self.case, row):
                for (name, _), (then, _) in zip(way, way[1:]):
                    behind.setdefault(name, set()).add(then)
        if any(len(outputs) > 1 for outputs in behind.values()) or self.case.has('jobs'):
            raise NoBound('fifo with several outputs behind an input')

    def passage(self, flow, port, then):
        """From a grant until the packet is ready at the next server: least and most."""
        if isinstance(port, Crossbar):
            return 0.0, max(0.0, port.duration(flow.size) - then.duration(flow.size))
        base = self.propagation + self.delay
        if isinstance(then, Crossbar):
            return base, base
        # T6; the packets of other sizes that share the queue may have to wait for more.
        extra = [max(0.0, port.duration(f.size) - then.duration(f.size)) for f in then.of_vl(then.vl(flow))]
        return base + min(extra), base + max(extra)

    def occupied(self, flow, port):
        """From a grant until the space behind this port is known to be free."""
        back = self.propagation + port.duration(UPDATE)
        if not flow.after[port.name]:
            return self.propagation + port.duration(flow.size) + back
        times = [self.passage(flow, port, then)[1] + then.took(flow) + then.duration(flow.size) for then in flow.after[port.name]]
        return max(times) if isinstance(port, Crossbar) else max(times) + back

    def check_buffer(self, port):
        for vl in port.used():
            flows = port.of_vl(vl)
            window = max(self.occupied(f, port) for f in flows)
            total = 0
            for flow in flows:
                jitter = flow.jitter[port.name] + port.took(flow)
                total += flow.blocks * (math.floor((window + jitter) / flow.period) + 1)
            total = min(total, spaced(flows, port, window))
            if total > port.buffer:
                raise NoBound('buffer: behind %s %d blocks needed, %d there' % (port.name, total, port.buffer))

    def latency(self, flow, port):
        total = port.took(flow)
        if not flow.after[port.name]:
            return total + self.propagation + port.duration(flow.size)
        return total + max(self.passage(flow, port, then)[1] + self.latency(flow, then) for then in flow.after[port.name])


def spaced(flows, port, window):
    """Most blocks that one port grants to these flows within a closed window."""
    if len({f.size for f in flows}) == 1:
        return flows[0].blocks * (math.floor(window / port.spacing(flows[0].size) + 1e-12) + 1)
    rate = max(f.blocks / port.spacing(f.size) for f in flows)
    return math.floor(window * rate + 1e-12) + max(f.blocks for f in flows)


def rate(text):
    return float(text.replace('Gb/s', '')) * 1e9


def seconds(text):
    for unit, value in (('ns', 1e-9), ('us', 1e-6), ('ms', 1e-3)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * value
    return float(text.rstrip('s'))


class Fabric:
    """Paths and trees, as `heddle route` prints them."""

    def __init__(self, heddle):
        self.heddle = heddle
        self.paths, self.peers = {}, {}
        self.file = None        # the scenario

    def ways(self, case, row):
        """Lists of (port, far end), one for each destination."""
        if row.group:
            return self.tree(case, row)
        fabric = case.scenario['fabric']
        key = (str(fabric['topology']), fabric['routing']['engine'], row.source, row.destination)
        if key not in self.paths:
            status, tables, err = self.heddle.tables(['route', self.file, '--path', 'h%d:h%d' % (row.source, row.destination), '--json', '-q'])
            if not tables or 'path' not in tables:
                raise NoBound('no path: %s' % err)
            rows = tables['path']
            way = []
            for at, line in enumerate(rows):
                far = '%s:%d' % (rows[at + 1]['node'], rows[at + 1]['in']) if at + 1 < len(rows) else 'h%d' % row.destination
                way.append((line['node'] if at == 0 else '%s:%d' % (line['node'], line['out']), far))
            self.paths[key] = way
        return [self.paths[key]]

    def peer(self, case, port):
        """What a port is connected to."""
        key = str(case.scenario['fabric']['topology'])
        if key not in self.peers:
            file = self.file + '.ports.yaml'
            with open(file, 'w') as out:
                out.write(generate.text_of({'fabric': {'topology': case.scenario['fabric']['topology']}, 'run': {'measure': '1us'},
                                            'traffic': [{'name': 'x', 'kind': 'cbr', 'rate': '1Mb/s', 'start': '1s'}]}, []))
            _, tables, _ = self.heddle.tables(['sim', file, '--all', '--json', '-q'])
            self.peers[key] = {r['port']: r['to'] for r in tables['ports']}
        return self.peers[key][port]

    def tree(self, case, row):
        status, out, err = self.heddle.run(['route', self.file, '--dump', 'mfts'])
        sets, switch = {}, None
        for line in out.splitlines():
            if line.startswith('Multicast mlids'):
                switch = line[line.rindex('(') + 1:line.rindex(')')]
            elif line.startswith('0xc000'):
                # A column of two characters for each port, from port 0 on, after twelve characters.
                sets[switch] = [(at - 12) // 2 for at, c in enumerate(line) if c == 'x' and at >= 12]
        ways = []

        def walk(way, seen):
            far = way[-1][1]
            if ':' not in far:
                ways.append(way)
                return
            node, came = far.rsplit(':', 1)
            if node in seen:
                raise NoBound('the tree has a circle')
            for port in sets.get(node, []):
                if port != int(came):
                    name = '%s:%d' % (node, port)
                    walk(way + [(name, self.peer(case, name))], seen | {node})

        source = 'h%d' % row.source
        walk([(source, self.peer(case, source))], set())
        ends = sorted(w[-1][1] for w in ways)
        if ends != sorted('h%d' % h for h in case.groups[row.group]):
            raise NoBound('the tree is not understood: %s' % ends)
        return ways


class Bounds:
    def __init__(self, heddle):
        self.fabric = Fabric(heddle)
        self.reasons = {}

    def scope(self, case, admitted):
        """Raises NoBound where the mathematics above says nothing."""
        for feature in ('transport', 'congestion', 'failure'):
            if case.has(feature):
                raise NoBound(feature)
        if case.has('adaptive') and 'be-only' not in case.has('adaptive'):
            raise NoBound('adaptive')
        if case.has('arrivals') in ('films', 'calls', 'both'):
            raise NoBound('arrivals')
        if case.has('changes') or case.has('jobs') in ('film', 'call') or case.release and admitted.get('early'):
            raise NoBound('changes')
        if case.engine in ('torus', 'dfsssp', 'lash', 'dragonfly'):
            raise NoBound('VLs of the routing algorithm')
        if case.has('order') in ('cioq fifo', 'readers'):
            raise NoBound(case.has('order'))
        if case.has('buffers') == 'exact':
            raise NoBound('exact credits')

    def of_case(self, case, path, admitted):
        """Latency bounds by name of row, in seconds; none if a condition is not met."""
        self.fabric.file = path
        try:
            self.scope(case, admitted)
            network = Network(case, self.fabric)
            gone = case.release[:2] if case.release else ()
            for row in case.rows:
                if admitted.get(row.name) and row not in gone:
                    network.add(row)
            if case.release:
                # The row that ended has left places of the tables to rows that share a port with its successor.
                late = [f for f in network.flows if f.row is case.release[2]]
                if late and any(len(p.flows) > 1 for p in network.ports.values() if late[0] in p.flows):
                    raise NoBound('changes')
            return network.solve()
        except NoBound as reason:
            text = str(reason).split(':')[0]
            self.reasons[text] = self.reasons.get(text, 0) + 1
            return {}
