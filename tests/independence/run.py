#!/usr/bin/env python3
# Laws of independence on random scenarios. Each case has a number; the seed and the number give its scenario.
#
# tables   Every simulated number of every table is finite, not negative and not wrapped; shares are 0 to 100 %; rates
#          are not above those of the links; packets that a row has offered are at least those delivered, lost and held.
# idle     A row or job that never sends, wherever it is written, changes no result of the others.
# order    The order of the traffic rows changes no result.
# disjoint Rows that share no host and no link have the results that they have alone, under every algorithm of
#          congestion control and in every order.
# trees    A job whose multicast and aggregation trees a sweep has rebuilt takes as long as on a fabric that never had
#          the cables that are down, on any number of threads.
# waiting  Packets that a failed link takes from flows under congestion control: each packet that was offered is delivered,
#          lost or waits at its source, and a note says how many wait for congestion.timeout.
# mtu      Without fabric.packet.mtu the MTU is the least of the ports with a cable; what is larger is refused.
#
#   run.py --heddle build/release/heddle --count 100 --seed 1
#   run.py --case 17 --law idle --keep FOLDER
import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys

RATE = 100  # Gb/s of every link
ALGORITHMS = ['fimd', 'lipd', 'pipd', 'aimd', 'cct']
IDLE = 'idle'
LAWS = ['tables', 'idle', 'order', 'disjoint', 'trees', 'waiting', 'mtu']

TOPOLOGIES = [
    ({'kind': 'star', 'hosts': 6}, 6, ['minhop', 'updn']),
    ({'kind': 'xgft', 'down': '3,3', 'up': '1,2'}, 9, ['minhop', 'updn', 'ftree', 'dfsssp']),
    ({'kind': 'mesh', 'columns': 2, 'rows': 3, 'hosts': 1}, 6, ['xy', 'dor', 'updn']),
    ({'kind': 'torus', 'sizes': '3x3', 'hosts': 1}, 9, ['torus', 'lash', 'dfsssp']),
]


# ---- scenarios ----------------------------------------------------------------------------------------------------

def payload(draw):
    return draw.choice([64, 256, 1000, 2048, 4096])


def pattern(draw, hosts, single):
    """Pattern, sources and destinations; `single`: each flow has one destination."""
    names = ['h%d' % i for i in range(hosts)]
    kind = draw.choice(['pairs', 'incast', 'permutation'] if single else
                       ['pairs', 'incast', 'permutation', 'uniform', 'hotspot', 'all-to-all', 'tornado'])
    if kind == 'pairs':
        chosen = draw.sample(names, 2 * draw.randint(1, hosts // 2))
        half = len(chosen) // 2
        return {'pattern': kind, 'source': ','.join(chosen[:half]), 'destination': ','.join(chosen[half:])}
    if kind == 'incast':
        chosen = draw.sample(names, draw.randint(2, hosts))
        return {'pattern': kind, 'source': ','.join(chosen[1:]), 'destination': chosen[0]}
    if kind == 'hotspot':
        return {'pattern': kind, 'hotspot': draw.choice(names), 'hot_share': '30%'}
    if kind in ('uniform', 'permutation') and draw.random() < 0.3:
        return {'pattern': kind, 'source': '60%'}
    return {'pattern': kind}


def paced(draw, row):
    row['kind'] = draw.choice(['poisson', 'poisson', 'cbr', 'cbr', 'on-off', 'pareto', 'ge'])
    if draw.random() < 0.5:
        row['load'] = '%d%%' % draw.randint(1, 70)
    else:
        row['rate'] = '%dMb/s' % draw.randint(100, 40000)
    if row['kind'] == 'cbr' and draw.random() < 0.3:
        row['aligned'] = True
    if row['kind'] == 'ge':
        row['scv'] = 4
    if row['kind'] in ('on-off', 'pareto'):
        row['on'], row['off'] = '3us', '6us'


def traffic_row(draw, name, case):
    row = {'name': name}
    transport = draw.choice([None] * 6 + ['rc', 'rc', 'uc', 'ud'])
    kind = draw.random()
    row['payload'] = payload(draw)
    if kind < 0.55:
        paced(draw, row)
    elif kind < 0.85:
        row['kind'] = 'saturating'
    else:
        row['kind'], row['count'] = 'messages', draw.randint(1, 20)
        row['start'] = '%dus' % draw.randint(0, 40)
        if transport != 'ud':
            row['payload'] = draw.choice([64, 5000, 20000])
    if case['groups'] and not transport and row['kind'] != 'messages' and draw.random() < 0.25:
        row.update({'pattern': 'group', 'group': 'g', 'source': 'h%d' % draw.randrange(case['hosts'])})
        if row['kind'] == 'saturating':
            row['kind'], row['load'] = 'cbr', '5%'
    else:
        row.update(pattern(draw, case['hosts'], transport is not None))
    if transport:
        row['transport'] = transport
    elif row['kind'] in ('poisson', 'saturating') and draw.random() < 0.15:
        row['payload_scv'] = 1
    # If all rows end, so does the run, and answers come after its end.
    if row['kind'] != 'messages' and (case['finite'] or draw.random() < 0.3):
        row['stop'] = '%dus' % draw.randint(5, 30 if case['finite'] else 90)
        row.pop('start', None)
    if case['sls'] > 1:
        row['sl'] = draw.randrange(case['sls'])
    if case['congestion'] and not transport and draw.random() < 0.2:
        row['rate_steps'] = draw.choice([16, 64, 512])
    return row


def job(draw, name, case):
    hosts = draw.sample(range(case['hosts']), draw.randint(2, case['hosts']))
    steps = [draw.choice([
        {'allreduce': draw.choice([3000, 40000])}, {'alltoall': 3000}, {'barrier': 0}, {'broadcast': 20000},
        {'broadcast': 20000, 'algorithm': 'multicast'}, {'reduce_scatter': 30000}, {'compute': '2us'}])
        for _ in range(draw.randint(1, 3))]
    out = {'name': name, 'on': ','.join('h%d' % h for h in hosts), 'place': draw.choice(['linear', 'random']),
           'repeat': draw.randint(1, 2), 'program': steps, 'alone': False}
    if draw.random() < 0.4:
        out['transport'] = 'rc'
    return out


def congestion(draw):
    out = {'algorithm': draw.choice(ALGORITHMS), 'window': draw.choice([2, 4, 16, 64]),
           'timeout': draw.choice(['5us', '50us', 'never'])}
    out['marking'] = draw.choice(['two-counter', {'rule': 'iba', 'threshold': 8, 'rate': 3},
                                  {'rule': 'threshold', 'depth': 8192}])
    if draw.random() < 0.5:
        out['ack'] = {'delay': draw.choice(['1us', '30us'])}
    return out


def scenario(draw):
    topology, hosts, engines = draw.choice(TOPOLOGIES)
    engine = draw.choice(engines)
    fabric = {'topology': dict(topology), 'link': {'rate': '%dGb/s' % RATE}, 'routing': engine}
    case = {'hosts': hosts, 'sls': draw.choice([1, 1, 2, 4]), 'groups': draw.random() < 0.35,
            'congestion': draw.random() < 0.45, 'finite': draw.random() < 0.3}
    if draw.random() < 0.4:
        fabric['switch'] = draw.choice([
            {'order': 'fifo'}, {'queueing': 'cioq'}, {'crossbar_reads': 1}, {'input_buffer': '1 packets'},
            {'arbitration': 'oldest'}, {'input_buffer': '6KiB'}])
    if draw.random() < 0.2:
        fabric['credits'] = 'exact'
    if draw.random() < 0.15:
        fabric['topology']['mtu'] = 4096
    if topology['kind'] == 'xgft' and draw.random() < 0.4 and 'order' not in fabric.get('switch', {}):
        fabric['routing'] = {'engine': 'updn', 'adaptive': draw.choice(['load', 'turns', 'random'])}
    if case['groups']:
        fabric['groups'] = [{'name': 'g', 'members': '50%'}]
    out = {'fabric': fabric, 'qos': {'vls': draw.choice([1, 2, 4])}}
    if draw.random() < 0.25:
        out['faults'] = draw.choice([{'ber': 1e-6}, {'hoq_life': '20us'}, {'update_loss': 0.01}])
    if case['congestion']:
        out['congestion'] = congestion(draw)
    # Names whose order is not that of the file.
    names = draw.sample(['a', 'b2', 'b10', 'c', 'zz', 'm1', 'Row'], draw.randint(1, 4))
    out['traffic'] = [traffic_row(draw, n, case) for n in names]
    if draw.random() < 0.3:
        out['jobs'] = [job(draw, n, case) for n in ['j', 'k'][:draw.randint(1, 2)]]
    out['run'] = {'seed': draw.randint(1, 1000), 'warmup': draw.choice(['0us', '10us']), 'measure': '100us',
                  'horizon': '400us'}
    if draw.random() < 0.1 and 'jobs' not in out:
        out['run'].update({'warmup': '20 packets', 'measure': '200 packets'})
    return out, case


def idle_row(draw, case):
    row = traffic_row(draw, draw.choice(['0', 'b3', 'zzz']) + IDLE, case)
    row.pop('stop', None)
    row['start'] = '390ms'
    return row


def idle_job(draw, case):
    out = job(draw, draw.choice(['0', 'zzz']) + IDLE, case)
    out['start'] = '390ms'
    return out


def disjoint(draw):
    """Rows of host pairs on one switch: nothing is shared."""
    rows, finite = [], draw.random() < 0.3
    for i, name in enumerate(draw.sample(['x', 'big', 'small', 'y1', 'y2'], draw.randint(2, 4))):
        row = {'name': name, 'payload': payload(draw), 'pattern': 'pairs', 'source': 'h%d' % (2 * i),
               'destination': 'h%d' % (2 * i + 1)}
        if draw.random() < 0.6:
            row['kind'] = 'saturating'
        else:
            paced(draw, row)
        if draw.random() < 0.4:
            row['rate_steps'] = draw.choice([16, 64, 512])
        if finite:
            row['stop'] = '%dus' % draw.randint(5, 30)
        rows.append(row)
    out = {'fabric': {'topology': {'kind': 'star', 'hosts': 8}, 'link': {'rate': '%dGb/s' % RATE}},
           'qos': {'vls': 1}, 'traffic': rows, 'congestion': congestion(draw),
           'run': {'seed': draw.randint(1, 1000), 'warmup': '0us', 'measure': '150us', 'horizon': '400us'}}
    out['congestion']['marking'] = {'rule': 'threshold', 'depth': 64}  # marks what is alone, too
    return out, finite


# ---- runs ---------------------------------------------------------------------------------------------------------

class Refused(Exception):
    pass


class Broken(Exception):
    pass


def run(args, what, threads='1'):
    """The tables of a run."""
    return run_all(args, what, threads)['tables']


def run_all(args, what, threads='1'):
    """Tables and notes."""
    done = subprocess.run([args.heddle, 'sim', '-', '--json', '--all', '--threads', threads], input=json.dumps(what),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode == 3:
        raise Refused(done.stderr.strip().split('\n')[-1].split(': ', 2)[-1])
    if done.returncode not in (0, 1):
        raise Broken('status %d: %s' % (done.returncode, done.stderr[-300:]))
    return json.loads(done.stdout)


# ---- laws ---------------------------------------------------------------------------------------------------------

def numbers(tables):
    """(table, column, unit, value, row) of all that is simulated."""
    for name, table in tables.items():
        for row in table['rows']:
            for column, how in table['columns'].items():
                if how.get('origin') == 'simulated' and isinstance(row[column], (int, float)) \
                        and not isinstance(row[column], bool):
                    yield name, column, how.get('unit'), row[column], row


def check_tables(what, tables):
    hosts = tables['fabric']['rows'][0]['hosts']
    microseconds = tables['summary']['rows'][0].get('measured') or 0
    # What was on its way when measuring began: a packet of 0.4 us per link and VL.
    slack = RATE * 4 * 0.4 / microseconds if microseconds else math.inf
    groups = {row['name'] for row in what.get('traffic', []) if row.get('pattern') == 'group'}
    for table, column, unit, value, row in numbers(tables):
        where = "table '%s', column '%s': %s in %s" % (table, column, value, row)
        if not math.isfinite(value) or value < 0 or value >= 2 ** 62:
            raise Broken(where)
        if unit == '%' and value > 100 * (1 + 1e-9):
            raise Broken(where)
        # A flow has the link of its source, all flows together those of all hosts; any rate may be offered.
        links = 1 if table == 'control' or table == 'flows' and row['traffic'] not in groups else hosts
        if unit == 'Gb/s' and column != 'offered' and value > links * (RATE + slack) * (1 + 1e-9):
            raise Broken(where)
    check_conservation(what, tables)


def check_conservation(what, tables):
    held = {r['traffic']: r.get('waiting', 0) for r in tables.get('control', {'rows': []})['rows']}
    if what['run'].get('warmup') != '0us' or 'measured' not in tables['summary']['rows'][0]:
        return
    seconds = tables['summary']['rows'][0]['measured'] * 1e-6
    rows = {r['name']: r for r in what['traffic']}
    for found in tables.get('traffic', {'rows': []})['rows']:
        row = rows[found['traffic']]
        if row.get('payload_scv') or row['pattern'] == 'group' or row.get('transport'):
            continue
        packets = -(-row['payload'] // 4096)
        offered = found['offered'] * 1e9 * seconds / 8 / (row['payload'] / packets)
        if found['packets'] + found['lost'] + held.get(found['traffic'], 0) > offered * (1 + 1e-9) + 1e-3:
            raise Broken("row '%s': %d delivered, %d lost and %d held of %g offered" % (
                found['traffic'], found['packets'], found['lost'], held.get(found['traffic'], 0), offered))


# Numbers of flows, and a checksum over them.
VOLATILE = {'fabric': ['flows'], 'summary': ['checksum'], 'flows': ['flow']}
# Of all rows or of all the run's time, which an idle job makes longer.
WHOLE = ['summary', 'fabric', 'service levels', 'VLs', 'progress', 'samples']


def rows_of(tables, table):
    out = collections.Counter()
    for row in tables[table]['rows']:
        row = {k: v for k, v in row.items() if k not in VOLATILE.get(table, [])}
        out[json.dumps(row, sort_keys=True)] += 1
    return out


def check_same(base, other, left_out):
    for table in base:
        if table in left_out:
            continue
        if table not in other:
            raise Broken("table '%s' is gone" % table)
        missing = rows_of(base, table) - rows_of(other, table)
        extra = [r for r in rows_of(other, table) - rows_of(base, table) if IDLE not in r]
        if missing:
            raise Broken("table '%s': %s becomes %s" % (table, next(iter(missing)), extra[:1]))


def law_tables(args, draw, keep):
    what, _ = scenario(draw)
    keep(what)
    check_tables(what, run(args, what))


def law_idle(args, draw, keep):
    what, case = scenario(draw)
    base = run(args, what)
    other = dict(what, traffic=list(what['traffic']))
    left_out = []
    if draw.random() < 0.35:
        jobs = list(what.get('jobs', []))
        jobs.insert(draw.randint(0, len(jobs)), idle_job(draw, case))
        other['jobs'] = jobs
        # J11: a run with jobs ends when they are done.
        left_out = [t for t in base if t not in ('jobs', 'steps', 'job queue pairs', 'ranks')]
    else:
        other['traffic'].insert(draw.randint(0, len(other['traffic'])), idle_row(draw, case))
    draw.shuffle(other['traffic'])
    keep(what, other)
    check_same(base, run(args, other), left_out)


def law_order(args, draw, keep):
    what, _ = scenario(draw)
    other = dict(what, traffic=list(what['traffic']))
    draw.shuffle(other['traffic'])
    keep(what, other)
    check_same(run(args, what), run(args, other), [])


def law_disjoint(args, draw, keep):
    what, finite = disjoint(draw)
    both = run(args, what)
    check_tables(what, both)
    draw.shuffle(what['traffic'])
    keep(what)
    check_same(both, run(args, what), [])
    # M3: the time that is measured ends with the last packet of all rows.
    for row in [] if finite else what['traffic']:
        alone = run(args, dict(what, traffic=[row]))
        check_same({t: alone[t] for t in ('traffic', 'control')}, both, [])


# Topology, and cables of which any one may be down.
TREES = [({'kind': 'xgft', 'down': '3,3', 'up': '1,2'}, 9, ['s1-%d:%d' % (i, 4 + k) for i in range(3) for k in range(2)]),
         ({'kind': 'mesh', 'columns': 3, 'rows': 2, 'hosts': 1}, 6, ['s-%d-0:1' % i for i in range(2)]),
         ({'kind': 'torus', 'sizes': '3x3', 'hosts': 1}, 9, ['s-%d-%d:1' % (i, k) for i in range(3) for k in range(3)])]


def law_trees(args, draw, keep):
    topology, hosts, cables = draw.choice(TREES)
    down = draw.sample(cables, draw.randint(1, min(2, len(cables))))
    members = draw.sample(range(hosts), draw.randint(2, hosts))
    steps = [draw.choice([{'broadcast': draw.choice([100, 20000]), 'algorithm': 'multicast'},
                          {'allreduce': draw.choice([3000, 40000]), 'algorithm': 'in-network'}])
             for _ in range(draw.randint(1, 3))]
    what = {'fabric': {'topology': topology, 'link': {'rate': '%dGb/s' % RATE}, 'routing': 'updn'},
            'jobs': [{'name': 'j', 'on': ','.join('h%d' % h for h in members), 'repeat': draw.randint(1, 3),
                      'start': '400us', 'program': steps}],
            'run': {'horizon': '20ms'}}
    without = dict(what, fabric=dict(what['fabric'], failed_links=down))
    events = [{'at': '%dus' % draw.randint(1, 90), 'kind': 'link-down', 'port': c} for c in down]
    faulty = dict(what, faults={'events': events},
                  sm={'trap': '5us', 'compute': '20us', 'program': '500ns', 'replan': 'fresh'})
    keep(without, faulty)
    # It may already send when the cables fail: then nothing is known of its end.
    early = dict(faulty, jobs=[dict(what['jobs'][0], start='0us', repeat=20)])
    check_tables(early, run(args, early))
    want, got = run(args, without), run(args, faulty, draw.choice(['1', '3']))
    for table in ('jobs', 'steps'):
        check_same({table: want[table]}, got, [])
    if not all(row['completion'] for row in got['jobs']['rows']):
        raise Broken('the job does not end')


def law_waiting(args, draw, keep):
    rule = congestion(draw)
    rule['timeout'] = draw.choice(['5us', '10ms', 'never'])
    rows = []
    for name in ['a', 'b'][:draw.randint(1, 2)]:
        row = {'name': name, 'kind': draw.choice(['cbr', 'poisson']), 'load': '%d%%' % draw.randint(2, 20),
               'payload': draw.choice([256, 2048]), 'stop': '80us'}
        row.update(pattern(draw, 9, True))
        rows.append(row)
    what = {'fabric': {'topology': {'kind': 'xgft', 'down': '3,3', 'up': '1,2'}, 'link': {'rate': '%dGb/s' % RATE},
                       'routing': 'updn'},
            'congestion': rule, 'traffic': rows, 'run': {'seed': draw.randint(1, 1000), 'warmup': '0us', 'measure': '8ms'},
            'faults': {'events': [{'at': '%dus' % draw.randint(5, 60), 'kind': 'link-down',
                                   'port': 's1-%d:%d' % (draw.randrange(3), draw.randint(4, 5))}]}}
    keep(what)
    out = run_all(args, what)
    tables = out['tables']
    seconds = tables['summary']['rows'][0]['measured'] * 1e-6
    held = sum(row['waiting'] for row in tables['control']['rows'])
    for found in tables['traffic']['rows']:
        waits = sum(row['waiting'] for row in tables['control']['rows'] if row['traffic'] == found['traffic'])
        payload = next(row['payload'] for row in rows if row['name'] == found['traffic'])
        offered = found['offered'] * 1e9 * seconds / 8 / payload
        if abs(found['packets'] + found['lost'] + waits - offered) > 0.01:
            raise Broken("row '%s': %d delivered, %d lost and %d wait of %g offered" % (
                found['traffic'], found['packets'], found['lost'], waits, offered))
    # Others wait for their rate.
    said = [n for n in out['notes'] if 'wait for it at the end' in n]
    if held and not said:
        raise Broken('%d packets wait, and the notes are %s' % (held, out['notes']))


def law_mtu(args, draw, keep):
    sizes = [256, 512, 1024, 2048, 4096]
    switch, host = draw.choice(sizes), draw.choice(sizes)
    fabric = {'topology': {'kind': 'star', 'hosts': 4, 'mtu': switch, 'host_mtu': host}}
    least = min(switch, host)
    row = {'name': 'a', 'kind': 'cbr', 'load': '5%', 'pattern': 'pairs', 'source': 'h0', 'destination': 'h1'}

    def with_payload(payload, **more):
        return {'fabric': dict(fabric, **more), 'traffic': [dict(row, payload=payload)],
                'run': {'warmup': '0us', 'measure': '20us'}}
    keep(with_payload(least))
    if run(args, with_payload(least))['fabric']['rows'][0]['mtu'] != least:
        raise Broken('the MTU is not %d' % least)
    refused = [with_payload(least + 1), with_payload(2 * least), with_payload(64, packet={'mtu': 2 * least})]
    for what in refused:
        try:
            run(args, what)
        except Refused as refusal:
            if 'more than the MTU of' in str(refusal) or 'fabric.packet.mtu' in str(refusal):
                continue
        raise Broken('accepted: %s' % json.dumps(what))
    messages = with_payload(5 * least)
    messages['traffic'][0].update({'kind': 'messages', 'count': 1})
    messages['traffic'][0].pop('load')
    if run(args, messages)['traffic']['rows'][0]['packets'] != 5:
        raise Broken('a message of %d bytes has another number of packets' % (5 * least))


def check(args, law, number):
    draw = random.Random('%s %d %d' % (law, args.seed, number))
    kept = []
    try:
        globals()['law_' + law](args, draw, lambda *what: kept.extend(what))
    except Refused as refusal:
        return law, number, 'refused', str(refusal)
    except Broken as violation:
        for i, what in enumerate(kept if args.keep else []):
            with open('%s/%s-%d-%d.yaml' % (args.keep, law, number, i), 'w') as file:
                json.dump(what, file, indent=1)
        return law, number, 'violated', str(violation)
    return law, number, 'held', ''


def main():
    parser = argparse.ArgumentParser(description='checks laws of independence on random scenarios')
    parser.add_argument('--heddle', default='build/release/heddle')
    parser.add_argument('--count', type=int, default=40, help='cases of each law')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--law', choices=LAWS)
    parser.add_argument('--case', type=int)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--keep', metavar='FOLDER', help='write the scenarios of violations there')
    args = parser.parse_args()
    laws = [args.law] if args.law else LAWS
    cases = [args.case] if args.case is not None else range(args.count)
    totals = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for law, number, outcome, text in pool.map(lambda x: check(args, *x), [(l, c) for c in cases for l in laws]):
            totals[law, outcome] += 1
            if outcome == 'violated' or (outcome == 'refused' and args.case is not None):
                print('%s: case %d of seed %d: %s' % (law, number, args.seed, text[:700]))
    bad = 0
    for law in laws:
        held, refused, violated = (totals[law, o] for o in ('held', 'refused', 'violated'))
        bad += violated
        print('%-8s %d held, %d refused, %d violated' % (law, held, refused, violated))
        # Refused scenarios prove nothing.
        if len(cases) > 1 and held + violated < 0.6 * len(cases):
            print('%s: too few scenarios run' % law)
            bad += 1
    return bad > 0


sys.exit(main())
