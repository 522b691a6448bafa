# Random scenarios with reservations, for the promise laws (laws.py).
#
# A case has a number and a seed. The number selects a pair of features (all pairs in turn), the seed and the number
# select all values. Each case is small: 8 Gb/s links, at most 12 hosts, some 20 ms of simulated time.
#
# A case always contains reserved rows (classes 'film', kind DB, and 'call', kind DBTS; constant bit rate, one flow each)
# and saturating best effort on the whole path of each of them: from the same source to the same destination, and from
# another host to the same destination.
import itertools
import random

LINK = 8e9
MTU = 4096
FRAME = 16320 * 64 * 8 / LINK  # seconds of one full arbitration round at the usual link rate
CLASSES = {'film': ('DB', 2), 'call': ('DBTS', 4), 'be': ('BE', 8)}
WORK = {'name': 'work', 'sl': 6, 'kind': 'DB'}  # class of jobs with a reservation

JOB_BYTES = 512 << 10        # of the allreduce of a job with a reservation, on four hosts
SHORT = 40                   # times of the short form of a case are divided by this
SHORT_TIME = 400e-6

# Values of each feature. A pair of features takes the values in turn, so that all of them occur.
FEATURES = {
    'folded': [8, 4, 2, 1],
    'unequal-vls': ['trunk 2', 'host 4', 'trunk 1', 'hosts 2', 'trunks 4'],
    'routing': ['minhop', 'updn', 'xy', 'dor', 'negative-first', 'ecube', 'torus', 'ftree', 'dfsssp', 'lash', 'dragonfly'],
    'adaptive': ['load', 'turns', 'random', 'load flow', 'turns flowlet', 'load heal', 'load be-only'],
    'failure': ['down', 'down-up', 'flap', 'sweep', 'switch', 'fresh', 'host'],
    'multicast': ['shared', 'shortest', 'union'],
    'jobs': ['reserve', 'be', 'reserve rc', 'be rc', 'reserve', 'film', 'reserve rc', 'call'],
    'transport': ['rc', 'uc', 'ud', 'rc be', 'rc 64KiB'],
    'congestion': [a + ' ' + k for a in ('cct', 'aimd', 'pipd', 'fimd', 'lipd', 'marks')
                   for k in ('packet', 'delay')] + ['cct cnp', 'cct iba'],
    'partitions': ['plain', 'enforce', 'limited'],
    'changes': ['steps', 'steps high'] * 4 + ['given'],
    'order': ['fifo', 'cioq', 'cioq fifo', 'readers'],
    'buffers': ['1 packets', '2 packets', '64KiB', 'far', 'exact', 'host 1 packets'],
    'rates': ['slow host', 'fast trunk', 'slow trunk', 'slow source'],
    'sizes': ['film', 'call', 'all', 'be'],
    'routers': ['inside', 'inside', 'across'],
    'arrivals': ['films', 'calls', 'both', 'release'],
}
# Features for which bound.py has a bound (`run.py --bounds`).
BOUNDED = ['sizes', 'rates', 'buffers', 'order', 'multicast', 'partitions', 'folded', 'unequal-vls']
BOUNDED_VALUES = {'folded': [8, 4, 2], 'unequal-vls': ['trunk 2', 'host 4', 'hosts 2', 'trunks 4'], 'buffers': ['64KiB'], 'order': ['cioq', 'cioq', 'fifo']}
PAIRS = list(itertools.combinations(FEATURES, 2))


class Topology:
    def __init__(self, options, hosts, engines, trunks, nodes=()):
        self.options, self.hosts, self.engines, self.trunks, self.nodes = options, hosts, engines, trunks, nodes


# trunks: one end of each cable between switches. nodes: switches whose loss leaves the other hosts connected.
TOPOLOGIES = {
    'star': Topology({'kind': 'star', 'hosts': 6}, 6, ['minhop', 'updn', 'dfsssp', 'lash'], []),
    'xgft': Topology({'kind': 'xgft', 'down': '4,2', 'up': '1,2'}, 8, ['updn', 'minhop', 'ftree', 'dfsssp', 'lash'],
                     ['s1-0:5', 's1-0:6', 's1-1:5', 's1-1:6'], ['s2-0', 's2-1']),
    'mesh': Topology({'kind': 'mesh', 'columns': 2, 'rows': 2, 'hosts': 2}, 8, ['xy', 'dor', 'negative-first', 'updn', 'dfsssp', 'lash'],
                     ['s-0-0:1', 's-0-0:2', 's-0-1:1', 's-1-0:2']),
    'cube': Topology({'kind': 'hypercube', 'dimensions': 2, 'hosts': 2}, 8, ['ecube', 'dor', 'updn', 'dfsssp'],
                     ['s-0:1', 's-0:2', 's-1:2', 's-2:1']),
    'torus': Topology({'kind': 'torus', 'sizes': '3x3', 'hosts': 1}, 9, ['torus', 'updn', 'lash', 'dfsssp'],
                      ['s-0-0:1', 's-0-0:3', 's-1-0:3', 's-0-1:1']),
    'irregular': Topology({'kind': 'irregular', 'switches': 4, 'degree': 3, 'hosts': 2}, 8, ['updn', 'dfsssp', 'lash'],
                          ['s-0:1', 's-0:2', 's-0:3', 's-1:2', 's-1:3', 's-2:3']),
    'dragonfly': Topology({'kind': 'dragonfly', 'routers': 2, 'globals': 1, 'hosts': 2}, 12, ['dragonfly', 'updn', 'dfsssp'],
                          ['s-0-0:1', 's-0-0:2', 's-0-1:2', 's-1-0:1']),
    'routed': Topology({'kind': 'routed', 'subnets': 2, 'hosts': 4}, 8, ['minhop', 'updn', 'dfsssp', 'lash'], ['r-0:1', 'r-0:2']),
}


def time_of(seconds):
    return '%dns' % round(seconds * 1e9)


def rate_of(bits):
    return '%dKb/s' % round(bits / 1000)


class Row:
    """A reserved row: what was asked, and when it sends."""

    def __init__(self, name, kind, source, destination, rate, payload, start=0.0, stop=None, group=None, flows=1):
        self.name, self.kind, self.source, self.destination = name, kind, source, destination
        self.rate, self.payload, self.start, self.stop, self.group = rate, payload, start, stop, group
        self.flows = flows          # 1: the row itself asks; 0: its connections come and go
        self.expect_admitted = None  # True or False where the specification says it
        self.deadline = None


class Case:
    def __init__(self, seed, number, extra=0, deadlines=False, bounds=False):
        self.seed, self.number, self.deadlines = seed, number, deadlines
        self.pair = PAIRS[number % len(PAIRS)]
        self.round = number // len(PAIRS)
        self.rng = random.Random('%d/%d' % (seed, number))
        self.values = {}
        names = list(self.pair)
        if extra:
            names += self.rng.sample([f for f in FEATURES if f not in names], extra)
        if bounds:
            names = self.rng.sample(BOUNDED, self.rng.choice([0, 1, 2, 3]))
        for name in names:
            values = FEATURES[name]
            if bounds:
                self.values[name] = self.rng.choice(BOUNDED_VALUES.get(name, values))
                continue
            place = self.round * 7 + number * 3 + PAIRS.index(PAIRS[number % len(PAIRS)]) if name == self.pair[0] else number + self.round
            self.values[name] = values[place % len(values)]
        self.bounds = bounds
        self.rows, self.besteffort, self.jobs, self.groups = [], [], [], {}
        self.job_rate = None         # of a job with a reservation
        self.linger = 0.4e-3
        self.warmup, self.measure = 3e-3, 16e-3
        self.faults_end = 0.0
        self.reserved_tail = []      # traffic rows of connections that come and go
        build(self)

    def has(self, feature):
        return self.values.get(feature)

    def label(self):
        return ', '.join('%s=%s' % (k, v) for k, v in self.values.items()) + ' on ' + self.topology


def choose_topology(case):
    rng = case.rng
    engine = case.has('routing')
    if case.has('routers'):
        if engine not in TOPOLOGIES['routed'].engines:
            engine = None
        case.topology = 'routed'
    elif engine:
        fitting = [t for t in TOPOLOGIES if t != 'routed' and engine in TOPOLOGIES[t].engines]
        if case.has('failure') or case.has('adaptive') or case.has('unequal-vls'):
            fitting = [t for t in fitting if t != 'star']
        case.topology = rng.choice(fitting)
    elif case.has('failure') or case.has('adaptive'):
        case.topology = rng.choice(['xgft', 'xgft', 'mesh', 'irregular'])
    elif case.has('unequal-vls') or case.has('rates'):
        case.topology = rng.choice(['xgft', 'mesh', 'star'])
    else:
        case.topology = rng.choice(['star', 'star', 'xgft', 'mesh'])
    if case.has('multicast') == 'union' and case.topology == 'routed':
        case.values['multicast'] = 'shared'
    topology = TOPOLOGIES[case.topology]
    case.engine = engine or topology.engines[0]
    if case.has('failure') and case.engine in ('xy', 'dor', 'negative-first') and case.has('failure') != 'host':
        # These algorithms refuse a grid without one of its cables; the failure is then that of a host's cable.
        if engine:
            case.values['failure'] = 'host'
        else:
            case.engine = 'updn'
    case.hosts = topology.hosts
    case.trunks = topology.trunks
    # Hosts of one subnet: reserved rows stay there.
    case.near = list(range(case.hosts // 2)) if case.topology == 'routed' else list(range(case.hosts))


def choose_rows(case):
    rng = case.rng
    # Payloads. One size for all reserved rows unless sizes are mixed: request files of 'qos admit' have one size.
    common = rng.choice([256, 1024, 2048, 2048, 4096])
    mixed = case.has('sizes')
    sizes = [39, 64, 103, 256, 700, 1024, 2048, 4096]
    case.payload = None if mixed and mixed != 'be' else common
    hosts = list(case.near)
    rng.shuffle(hosts)
    count = rng.choice([1, 2, 2, 3] if not case.bounds else [1, 2, 4, 6])
    for number in range(count):
        kind = rng.choice(['film', 'film', 'call'])
        payload = common
        if mixed == 'all' or mixed == kind:
            payload = rng.choice(sizes)
        if kind == 'film':
            rate = rng.choice([100e6, 250e6, 500e6, 1e9, 2e9])
        else:
            rate = rng.choice([20e6, 50e6, 100e6, 200e6])
        if payload < 256:  # short runs of many small packets
            rate = min(rate, 250e6)
        source = hosts[number % len(hosts)]
        destination = hosts[(number + 1 + rng.randrange(len(hosts) - 1)) % len(hosts)]
        if destination == source:
            destination = hosts[(number + 1) % len(hosts)]
        row = Row('%s%d' % (kind, number), kind, source, destination, rate, payload)
        # Drawn in any case, so that a heddle without deadlines has the same cases otherwise.
        deadline = rng.choice([20e-6, 50e-6, 200e-6, 1e-3] if kind == 'call' else [200e-6, 500e-6, 2e-3, None])
        # Bursts of queue pairs have no limit: such rows with a deadline are refused.
        if case.deadlines and case.has('transport') in (None, 'rc be'):
            row.deadline = deadline
        case.rows.append(row)
    if case.has('routers') == 'across':
        case.rows[-1].destination = case.hosts - 1
    if case.has('multicast'):
        row = case.rows[0]
        members = sorted(rng.sample([h for h in case.near if h != row.source], min(3, len(case.near) - 1)))
        row.group, row.destination = 'g', members[0]
        row.rate = min(row.rate, 500e6)
        case.groups['g'] = members


def best_effort(case):
    """Saturates the path of each reserved row."""
    rng = case.rng
    sizes = [256, 1024, 2048, 4096]
    payload = rng.choice([2048, 2048, 4096, 1024])
    made = set()
    for row in case.rows:
        ends = case.groups[row.group] if row.group else [row.destination]
        for end in ends[:2]:
            other = [h for h in case.near if h not in (row.source, end)]
            for source in (row.source, rng.choice(other)):
                if (source, end) in made or len(made) >= (16 if case.bounds else 6):
                    continue
                made.add((source, end))
                size = rng.choice(sizes) if case.has('sizes') else payload
                if case.has('jobs'):
                    size = 4096  # T13p: a packet that fits the credits overtakes a larger one of another sender
                case.besteffort.append({'name': 'be%d' % len(made), 'class': 'be', 'kind': 'saturating', 'payload': size,
                                        'source': 'h%d' % source, 'destination': 'h%d' % end, 'pattern': 'pairs'})


def add_release(case):
    """One row ends, its successor asks when its slots are back, another one asks too early."""
    rng = case.rng
    used = {r.source for r in case.rows} | {r.destination for r in case.rows}
    free = [h for h in case.near if h not in used]
    if len(free) < 2:
        return
    rate = 0.45 * LINK
    stop = 1e-3
    first = Row('first', 'film', free[0], free[1], rate, case.payload or 2048, 0.0, stop)
    early = Row('early', 'film', free[0], free[1], rate, case.payload or 2048, stop + case.linger / 2, None)
    late = Row('late', 'film', free[0], free[1], rate, case.payload or 2048, stop + case.linger, None)
    case.release = (first, early, late)
    case.rows = [first] + case.rows + [early, late]


def add_changes(case):
    """Rows that start and stop, so that admission writes the tables of the ports many times (T11c)."""
    rng = case.rng
    kind = 'call' if case.has('changes') == 'steps high' else 'film'
    base = case.rows[0]
    for number in range(6):
        start = rng.uniform(0.2e-3, 12e-3)
        stop = start + rng.uniform(0.5e-3, 4e-3)
        row = Row('step%d' % number, kind, base.source if number % 2 else rng.choice(case.near), base.destination,
                  rng.choice([50e6, 100e6, 200e6]), case.payload or 2048, start, stop)
        if row.source == row.destination:
            row.source = next(h for h in case.near if h != row.destination)
        case.rows.append(row)


def ack_timeout(case):
    """Above the round trip, so that nothing is sent again without a loss."""
    return '4ms' if case.has('buffers') == 'far' else '200us'


def traffic_row(case, row):
    kind, _ = CLASSES[row.kind]
    out = {'name': row.name, 'class': row.kind, 'kind': 'cbr', 'rate': rate_of(row.rate), 'payload': row.payload,
           'source': 'h%d' % row.source}
    if row.group:
        out.update({'pattern': 'group', 'group': row.group})
    else:
        out.update({'destination': 'h%d' % row.destination, 'pattern': 'pairs'})
    if row.start:
        out['start'] = time_of(row.start)
    if row.stop is not None:
        out['stop'] = time_of(row.stop)
    if row.deadline:
        out['deadline'] = time_of(row.deadline)
    transport = case.has('transport')
    if transport and not row.group and transport != 'rc be':
        out['transport'] = transport.split()[0]
        if out['transport'] == 'rc':
            out['ack_timeout'] = ack_timeout(case)
        if transport == 'rc 64KiB':
            out['payload'] = 65536
    if case.has('partitions'):
        out['partition'] = 'p'
    return out


def arrivals_rows(case):
    value = case.has('arrivals')
    out = []
    for kind in ('film', 'call'):
        if value not in ('both', kind + 's'):
            continue
        row = Row('go' + kind, kind, None, None, 300e6 if kind == 'film' else 50e6, case.payload or 2048, flows=0)
        case.rows.append(row)
        hosts = ','.join('h%d' % h for h in case.near)
        text = {'name': row.name, 'class': kind, 'kind': 'cbr', 'rate': rate_of(row.rate), 'payload': row.payload,
                'source': hosts, 'destination': hosts, 'arrivals': '400us', 'holding': '2ms'}
        if case.has('transport') and case.has('transport') != 'rc be':
            text['transport'] = case.has('transport').split()[0]
            if text['transport'] == 'rc':
                text['ack_timeout'] = ack_timeout(case)
        out.append(text)
    return out


def fabric_of(case):
    rng = case.rng
    topology = TOPOLOGIES[case.topology]
    fabric = {'topology': dict(topology.options), 'link': {'rate': '8Gb/s'}, 'routing': {'engine': case.engine}}
    adaptive = case.has('adaptive')
    if adaptive:
        words = adaptive.split()
        choice = {'choice': words[0]}
        if 'flow' in words or 'flowlet' in words:
            choice['per'] = words[1]
        if 'heal' in words:
            choice.update({'failover_delay': '1us', 'notify': '2us'})
        if 'be-only' in words:
            choice['sls'] = '8'
        choice['threshold'] = rng.choice([0, 16, 64])
        fabric['routing']['adaptive'] = choice
    switch = {}
    order = case.has('order')
    if order == 'fifo':
        switch['order'] = 'fifo'
    elif order in ('cioq', 'cioq fifo'):
        switch.update({'queueing': 'cioq', 'speedup': rng.choice([1, 2, 4])})
        if order == 'cioq fifo':
            switch['order'] = 'fifo'
    elif order == 'readers':
        switch['crossbar_reads'] = rng.choice([1, 2])
    buffers = case.has('buffers')
    if buffers in ('1 packets', '2 packets', '64KiB'):
        switch['input_buffer'] = buffers
        if order in ('cioq', 'cioq fifo'):
            switch['output_buffer'] = buffers
    elif buffers == 'host 1 packets':
        fabric['host'] = {'input_buffer': '1 packets'}
    elif buffers == 'far':
        fabric['link']['propagation'] = rng.choice(['5us', '20us', '50us'])
    elif buffers == 'exact':
        fabric['credits'] = 'exact'
    if rng.random() < 0.3:
        switch['arbitration'] = 'oldest'
    if case.bounds and 'input_buffer' not in switch and rng.random() < 0.7:
        switch['input_buffer'] = '32KiB'
        if 'queueing' in switch:
            switch['output_buffer'] = '32KiB'
    if switch:
        fabric['switch'] = switch
    rates = case.has('rates')
    if rates:
        row = case.rows[0]
        if rates == 'slow host':
            fabric['links'] = [{'ports': 'h%d' % row.destination, 'rate': '4Gb/s'}]
        elif rates == 'slow source':
            fabric['links'] = [{'ports': 'h%d' % row.source, 'rate': '4Gb/s'}]
        elif case.trunks:
            ports = 'r-0' if case.topology == 'routed' else 'trunks'
            fabric['links'] = [{'ports': ports, 'rate': '16Gb/s' if rates == 'fast trunk' else '4Gb/s'}]
        else:
            fabric['links'] = [{'ports': 'h%d' % row.destination, 'rate': '16Gb/s' if rates == 'fast trunk' else '4Gb/s'}]
    if case.groups:
        tree = case.has('multicast')
        fabric['groups'] = [{'name': n, 'members': ','.join('h%d' % h for h in m), 'tree': tree} for n, m in case.groups.items()]
    return fabric


def qos_of(case):
    rng = case.rng
    vls = case.has('folded') or 15
    classes = [{'name': n, 'sl': sl, 'kind': kind} for n, (kind, sl) in CLASSES.items()]
    if rng.random() < 0.3:
        classes[2]['weight'] = rng.choice([1632, 4080, 5100])
    case.best_effort_weight = classes[2].get('weight', 3264)
    qos = {'vls': vls, 'classes': classes, 'admission': {'release_delay': time_of(case.linger)}}
    if rng.random() < 0.2:
        qos['admission']['place'] = 'first'
    if rng.random() < 0.2:
        qos['admission']['margin'] = rng.choice(['0%', '10%'])
    unequal = case.has('unequal-vls')
    if unequal:
        where, vls = unequal.split()
        if where == 'trunk':
            ports = case.trunks[0] if case.trunks else 'h%d' % case.rows[0].destination
        elif where == 'host':
            ports = 'h%d' % case.rows[0].destination
        elif where == 'hosts':
            ports = 'hosts'
        else:
            ports = 'trunks' if case.trunks and case.topology != 'routed' else 'hosts'
        qos['ports'] = [{'ports': ports, 'vls': int(vls)}]
    if case.has('changes') == 'given':
        qos['changes'] = [{'at': '1ms', 'ports': 'hosts', 'low': '2:99,8:33'}]
    partitions = case.has('partitions')
    if partitions:
        rows = [r for r in case.rows if r.source is not None]
        ends = sorted({r.source for r in rows} | {r.destination for r in rows} | {h for m in case.groups.values() for h in m})
        qos['partitions'] = [{'name': 'p', 'key': 17, 'full': ','.join('h%d' % h for h in ends)}]
        if partitions == 'limited':
            sources = {r.source for r in rows}
            sinks = {r.destination for r in rows} | {h for m in case.groups.values() for h in m}
            limited = sorted(sources - sinks)
            if limited:
                full = [h for h in ends if h not in limited]
                qos['partitions'] = [{'name': 'p', 'key': 17, 'full': ','.join('h%d' % h for h in full),
                                      'limited': ','.join('h%d' % h for h in limited)}]
        qos['enforce'] = partitions != 'plain'
    return qos


def failure_of(case, scenario):
    value = case.has('failure')
    if not value:
        return
    rng = case.rng
    sm = {'trap': '20us', 'compute': '50us', 'program': '2us'}
    down = 2e-3
    back = None
    port, kind = None, 'link'
    if value == 'host' or not case.trunks:
        port, back = 'h%d' % case.rows[0].destination, 3e-3
    elif value == 'switch' and TOPOLOGIES[case.topology].nodes:
        port, kind = rng.choice(TOPOLOGIES[case.topology].nodes), 'switch'
    else:
        port = rng.choice(case.trunks)
    if case.topology == 'routed':
        back = 3e-3  # the only cable to the router
    if value == 'down-up':
        back = 4e-3
    elif value == 'flap':
        back = down + 10e-6
    elif value == 'sweep':
        sm = {'sweep': '500us', 'compute': '50us', 'program': '2us'}
    elif value == 'fresh':
        sm['replan'] = 'fresh'
    events = [{'at': time_of(down), 'kind': kind + '-down', 'port': port}]
    if back:
        events.append({'at': time_of(back), 'kind': kind + '-up', 'port': port})
    scenario['faults'] = {'events': events}
    scenario['sm'] = sm
    # The last sweep ends well before this; queues of the failure drain within a frame.
    case.faults_end = (back or down) + 2e-3
    case.warmup = max(case.warmup, case.faults_end)


def congestion_of(case, scenario):
    value = case.has('congestion')
    if not value:
        return
    algorithm, mode = value.split()
    out = {'algorithm': algorithm, 'marking': 'two-counter'}
    if mode == 'delay':
        out['ack'] = {'delay': '2us'}
    elif mode == 'cnp':
        out['echo'] = 'cnp'
    elif mode == 'iba':
        out['marking'] = {'rule': 'iba', 'threshold': 8, 'rate': 3}
    out['window'] = 16
    scenario['congestion'] = out
    case.warmup = max(case.warmup, 10e-3)


def jobs_of(case, scenario):
    value = case.has('jobs')
    if not value:
        return
    name = value.split()[0]
    on = case.near[:4]
    job = {'name': 'job', 'class': name, 'on': ','.join('h%d' % h for h in on), 'repeat': 24,
           'program': [{'allreduce': '64KiB'}, {'compute': '700us'}], 'alone': False}
    if name == 'reserve':
        case.job_rate = case.rng.choice([500e6, 1e9, 1.5e9])
        job.update({'class': WORK['name'], 'reserve': rate_of(case.job_rate), 'repeat': 1,
                    'program': [{'allreduce': '%dKiB' % (JOB_BYTES >> 10), 'algorithm': 'ring'}]})
        scenario['qos']['classes'].append(dict(WORK))
    if value.endswith('rc'):
        job['transport'] = 'rc'
    scenario['jobs'] = [job]


def build(case):
    choose_topology(case)
    case.release = None
    choose_rows(case)
    best_effort(case)
    if case.has('changes') in ('steps', 'steps high'):
        add_changes(case)
    if not case.bounds and not case.has('failure') and (case.has('arrivals') == 'release' or (not case.has('arrivals') and case.rng.random() < 0.25)):
        add_release(case)
    traffic = [traffic_row(case, row) for row in case.rows]
    traffic += arrivals_rows(case)
    for row in case.besteffort:
        if case.has('transport') == 'rc be':
            row['transport'] = 'rc'
        traffic.append(row)
    if case.has('routers'):
        across = {'name': 'across', 'class': 'be', 'kind': 'saturating', 'payload': 4096 if case.has('jobs') else 2048, 'source': 'h0',
                  'destination': 'h%d' % (case.hosts - 1), 'pattern': 'pairs'}
        traffic.append(across)
    scenario = {'fabric': fabric_of(case), 'qos': qos_of(case), 'traffic': traffic}
    jobs_of(case, scenario)
    congestion_of(case, scenario)
    failure_of(case, scenario)
    scenario['run'] = {'seed': case.seed * 1000003 + case.number, 'warmup': time_of(case.warmup), 'measure': time_of(case.measure)}
    if case.has('jobs'):
        scenario['run']['horizon'] = time_of(80e-3)  # a run with jobs lasts until they end
    case.scenario = scenario


def crowd_of(case):
    """The fabric of a case with more requests than it can admit, and hardly any time: (scenario, rows)."""
    rng = random.Random('%d/%d/crowd' % (case.seed, case.number))
    payload = rng.choice([64, 103, 256, 1024, 2048, 4096])
    ends = rng.sample(case.near, 2)
    rows = []
    for number in range(24):
        kind = rng.choice(['film', 'film', 'call'])
        destination = rng.choice(ends)
        source = rng.choice([h for h in case.near if h != destination])
        rows.append(Row('r%d' % number, kind, source, destination, rng.choice([100e6, 200e6, 300e6, 600e6, 1e9]), payload))
    fabric = {k: v for k, v in case.scenario['fabric'].items() if k != 'groups'}
    qos = {k: v for k, v in case.scenario['qos'].items() if k not in ('partitions', 'enforce', 'changes')}
    traffic = [{'name': r.name, 'class': r.kind, 'kind': 'cbr', 'rate': rate_of(r.rate), 'payload': r.payload, 'source': 'h%d' % r.source,
                'destination': 'h%d' % r.destination, 'pattern': 'pairs'} for r in rows]
    # Best effort of another size, and hosts without a reservation: both count for what admission may promise.
    traffic.append({'name': 'be', 'class': 'be', 'kind': 'saturating', 'payload': 2048, 'source': 'h%d' % ends[0], 'destination': 'h%d' % ends[1],
                    'pattern': 'pairs'})
    return {'fabric': fabric, 'qos': qos, 'traffic': traffic, 'run': {'warmup': '0ns', 'measure': '1us'}}, rows


def shorter(text):
    """A time of the case as a time of its short form."""
    return time_of(float(text[:-2]) * 1e-9 / SHORT)


def short_of(case):
    """The case in SHORT_TIME, of plain rows only: what the oracle can replay (replay.c)."""
    rng = random.Random('%d/%d/short' % (case.seed, case.number))
    import copy
    out = copy.deepcopy(case.scenario)
    out.pop('jobs', None)
    out['run'] = {'seed': out['run']['seed'], 'warmup': '0ns', 'measure': time_of(SHORT_TIME)}
    out['qos']['admission']['release_delay'] = '20us'
    for row in out['traffic']:
        for key in ('transport', 'ack_timeout', 'deadline'):
            row.pop(key, None)
        row['aligned'] = True
        if row['kind'] == 'saturating':
            row.update({'kind': 'cbr', 'rate': '%dMb/s' % rng.randrange(4000, 17000)})
        if row['payload'] > 4096:
            row['payload'] = 4096
        row['start'] = shorter(row['start']) if 'start' in row else '%dns' % rng.randrange(10000)
        if 'stop' in row:
            row['stop'] = shorter(row['stop'])
        if 'arrivals' in row:
            row.update({'arrivals': '30us', 'holding': '100us'})
            row.pop('start')
    for event in out.get('faults', {}).get('events', []):
        event['at'] = shorter(event['at'])
    if 'sm' in out:
        out['sm'].update({'compute': '10us', 'program': '1us'})
        out['sm'].update({'sweep': '50us'} if 'sweep' in out['sm'] else {'trap': '5us'})
    return out


def text_of(scenario, head):
    """A scenario as YAML: one line for each row, so that a reader can remove lines."""
    import json
    lines = ['# ' + line for line in head]
    for key, value in scenario.items():
        if isinstance(value, list):
            lines.append(key + ':')
            lines += ['- ' + json.dumps(item) for item in value]
        elif key in ('fabric', 'qos'):
            lines.append(key + ':')
            lines += ['  %s: %s' % (k, json.dumps(v)) for k, v in value.items()]
        else:
            lines.append('%s: %s' % (key, json.dumps(value)))
    return '\n'.join(lines) + '\n'
