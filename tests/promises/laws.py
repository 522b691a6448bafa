# The promise laws, checked on one generated case.
#
# rate      Each admitted row delivers at least 99.5 % of its rate, less a packet and what may be on the way (its latest packet,
#           its bound or a frame of the tables, whichever is least), or the table `connections` says that its promise is
#           broken and why.
# deadline  No packet of an admitted row with a deadline is later than it, or the promise is reported as broken.
# bound     No packet of an admitted row is later than the network-calculus bound of bound.py.
# promised-bound
#           The same for the bound in the table `connections` of the run, which follows connections that come and go.
# qos-bound The same for the bound that `heddle qos bound` prints, if its requests are all connections of the run and routes stay.
# admit, qos-bound-admit
#           `heddle qos admit` and `heddle qos bound` admit the rows that `heddle sim` admits.
# release   A row that asks when the slots of its predecessor are back is admitted; one that asks before is refused.
# starved   Each unreserved row that offers packets delivers some, or a failed link loses them (adaptive groups keep their ports when
#           the manager changes routes, rule D1). Nothing is promised to it, but no packet waits forever. Not where best effort
#           has several packet sizes: on one VL small packets overtake large ones that do not fit the credits (T9, T13p).
# job       A job with a reservation ends within the time of its bytes at the reserved rate and a round of the programmed tables
#           per step and link, or the promise is reported as broken. A job without one ends, or `failed operations` says why not.
# crash, message, timeout
#           A refused scenario ends with status 3 and one line; nothing else ends with a status other than 0 or 1.
#
# Names of tables, columns and keys that a later version may change are in NAMES.
import re
import json
import os
import subprocess

import generate

NAMES = {
    'deadline': 'deadline',       # key of a traffic row
    'broken': 'broken',           # column of `connections`: connections that were broken at some time
    'promises': 'broken promises',  # table: one line for each time in which a promise was broken
    'row': 'traffic',             # its column with the name of the row
    'cause': 'cause',             # its column with the reason
}
SHARE = 0.995


class Violation:
    def __init__(self, law, row, text):
        self.law, self.row, self.text = law, row, text


class Result:
    def __init__(self):
        self.outcome = 'ran'       # ran, refused
        self.message = ''
        self.violations = []
        self.reported = []         # rows whose promise is reported as broken
        self.admitted = 0
        self.requests = 0          # of check_crowd
        self.ratios = []           # (independent bound / simulated maximum) of rows

    def violate(self, law, row, text):
        self.violations.append(Violation(law, row, text))


class Heddle:
    """Runs commands of one heddle binary and finds out what it knows."""

    def __init__(self, path, folder, timeout=60):
        self.path, self.folder, self.timeout = os.path.abspath(path), folder, timeout
        probe = os.path.join(folder, 'probe.yaml')
        with open(probe, 'w') as file:
            file.write('fabric: {topology: {kind: star, hosts: 2}}\ntraffic: [{name: x, kind: cbr, rate: 1Gb/s}]\n')
        status, out, _ = self.run(['sim', '--explain', probe])
        self.knows_deadline = ' %s:' % NAMES['deadline'] in out

    def run(self, words):
        try:
            done = subprocess.run([self.path] + words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=self.timeout, cwd=self.folder, errors='replace')
        except subprocess.TimeoutExpired:
            return None, '', 'timeout'
        return done.returncode, done.stdout, done.stderr

    def tables(self, words):
        status, out, err = self.run(words)
        if status not in (0, 1):
            return status, None, err
        try:
            parsed = json.loads(out)
        except ValueError:
            return status, None, 'no JSON: ' + out[:200]
        return status, {name: table['rows'] for name, table in parsed['tables'].items()}, ' | '.join(parsed.get('notes', []))


def slowest(case):
    """The lowest link rate of the fabric, in bit/s."""
    least = generate.LINK
    for link in case.scenario['fabric'].get('links', []):
        least = min(least, float(link['rate'].replace('Gb/s', '')) * 1e9)
    return least


def broken(tables, name):
    """(number of broken promises of a row, causes)."""
    count, causes = 0, []
    for line in tables.get('connections', []):
        if line['traffic'] == name:
            count = line.get(NAMES['broken']) or 0
    for line in tables.get(NAMES['promises'], []):
        if line.get(NAMES['row'], line.get('row')) == name and line.get(NAMES['cause']):
            causes.append(line[NAMES['cause']])
    return max(count, len(causes)), causes


def check_rate(case, row, tables, traffic, bound, result):
    end = case.warmup + case.measure
    frame = 16320 * 64 * 8 / slowest(case)
    active = min(row.stop if row.stop is not None else end, end) - max(row.start, case.warmup)
    if row.flows == 1 and active < 3 * frame:
        return
    delivered = traffic['delivered'] * 1e9 * case.measure
    latest = traffic['max'] * 1e-6 if traffic['max'] else frame
    wait = min(latest, frame, bound or frame)
    payload = payload_of(row, case.has('transport'))[1]
    if row.flows == 1:
        copies = len(case.groups[row.group]) if row.group else 1
        expected = row.rate * active * copies
        slack = copies * (8 * payload + row.rate * wait)
    else:
        expected = traffic['offered'] * 1e9 * case.measure
        held = next(c['held'] or 0 for c in tables['connections'] if c['traffic'] == row.name) + 1
        slack = held * (8 * payload + row.rate * wait)
    if delivered >= SHARE * expected - slack:
        return
    count, causes = broken(tables, row.name)
    if count:
        result.reported.append(row.name)
        if not causes:
            result.violate('cause', row, 'the promise is reported as broken without a cause')
        return
    result.violate('rate', row, 'delivered %.4f of %.4f Gb/s (%.1f %%), max %s us' % (
        delivered / case.measure / 1e9, expected / case.measure / 1e9, 100 * delivered / expected if expected else 0, traffic['max']))


def check_latency(row, tables, traffic, bounds, result):
    latest = traffic['max']
    if latest is None or row.flows != 1:
        return
    count, _ = broken(tables, row.name)
    if row.deadline and latest * 1e-6 > row.deadline and not count:
        result.violate('deadline', row, 'max %.3f us, deadline %.3f us' % (latest, row.deadline * 1e6))
    promised = next(c['bound'] for c in tables['connections'] if c['traffic'] == row.name)
    if promised and not count and latest > promised + 1e-6:
        result.violate('promised-bound', row, 'max %.3f us, bound of the run %.3f us' % (latest, promised))
    bound = bounds.get(row.name)
    if bound is not None and not count:
        result.ratios.append((bound * 1e6 / latest, row.name))
        if latest * 1e-6 > bound + 1e-12:
            result.violate('bound', row, 'max %.3f us, independent bound %.3f us' % (latest, bound * 1e6))


def payload_of(row, transport):
    """(payload of a packet, of a message)."""
    return (generate.MTU, 65536) if transport == 'rc 64KiB' and not row.group else (row.payload, row.payload)


def request_line(row, latency, transport):
    target = 'group:' + row.group if row.group else 'h%d' % row.destination
    words = ['h%d' % row.source, target, row.kind, generate.rate_of(row.rate), str(payload_of(row, transport)[1])]
    if latency and row.deadline:
        words.append(generate.time_of(row.deadline))
    if transport in ('rc', 'rc 64KiB') and not row.group:
        words.append('rc')
    return ' '.join(words) + '\n'


def says(admits):
    return 'admits' if admits else 'refuses'


def ask(heddle, path, rows, groups, admitted, latest, result, is_fixed=True, transport=None):
    """Gives the same requests, all of one payload, to `qos admit` and `qos bound`. is_fixed: no others come, and routes stay."""
    flows = path + '.requests'
    # A run asks in the order of names, numbers in them by value.
    rows = sorted(rows, key=lambda r: [int(w) if w.isdigit() else w for w in re.split(r'(\d+)', r.name)])
    common = groups + ['--payload', str(max(payload_of(r, transport)[0] for r in rows)), '--json', '-q']
    with open(flows, 'w') as file:
        file.write(''.join(request_line(r, heddle.knows_deadline, transport) for r in rows))
    status, tables, err = heddle.tables(['qos', 'admit', '--requests', flows] + common + [path])
    if tables is None:
        refusal = status == 3 and err.count('\n') == 1
        result.violate('admit' if refusal else 'crash', None, "sim accepts, 'qos admit' ends with %s: %s" % (status, err.strip()[:200]))
    else:
        for row, line in zip(rows, tables['requests']):
            if bool(line['admitted']) != admitted.get(row.name):
                result.violate('admit', row, "sim %s, 'qos admit' %s" % (says(admitted.get(row.name)), says(line['admitted'])))
                break  # what follows differs because of it
    with open(flows, 'w') as file:
        file.write(''.join(request_line(r, True, transport) for r in rows))
    status, tables, err = heddle.tables(['qos', 'bound'] + common + [path, flows])
    if tables is None:
        # A bound may not exist; then the refusal says why, in one line.
        if status != 3 or err.count('\n') != 1:
            result.violate('crash', None, 'qos bound: status %s: %s' % (status, err.strip()[:200]))
        return
    granted, bounds = {}, {}
    for line in tables['flows']:
        granted[line['line']] = granted.get(line['line'], True) and bool(line['admitted'])
        bounds[line['line']] = max(bounds.get(line['line'], 0), line['bound'] or 0)
    for number, row in enumerate(rows, 1):
        if granted.get(number) != admitted.get(row.name):
            result.violate('qos-bound-admit', row, "sim %s, 'qos bound' %s" % (says(admitted.get(row.name)), says(granted.get(number))))
            break
    for number, row in enumerate(rows, 1):
        late = latest.get(row.name) if is_fixed else None
        if granted.get(number) and admitted.get(row.name) and late and bounds[number] and late > bounds[number] + 1e-6:
            result.violate('qos-bound', row, "max %.3f us, 'qos bound' %.3f us" % (late, bounds[number]))


def check_agreement(case, heddle, path, admitted, traffic, result):
    rows = [r for r in case.rows if r.flows == 1 and r.start == 0]
    if case.payload is None or not rows:
        return
    groups = []
    for name, members in case.groups.items():
        tree = case.has('multicast')
        if tree != 'shared':
            tree += '@h%d' % next(r.source for r in rows if r.group == name)
        groups += ['--group', '%s:%s=%s' % (name, tree, ','.join('h%d' % h for h in members))]
    is_fixed = len(rows) == len(case.rows) and not case.has('failure')
    ask(heddle, path, rows, groups, admitted, {r.name: traffic[r.name]['max'] for r in rows}, result, is_fixed, case.has('transport'))


def check_crowd(case, heddle, path, result):
    """The same on the same fabric with more requests than it can admit."""
    scenario, rows = generate.crowd_of(case)
    path = path[:-5] + '.crowd.yaml'
    with open(path, 'w') as file:
        file.write(generate.text_of(scenario, [case.label()]))
    status, tables, err = heddle.tables(['sim', path, '--json', '--threads', '1', '-q'])
    if tables is None:
        if status != 3 or err.count('\n') != 1:
            result.violate('crash', None, 'sim of many requests: status %s: %s' % (status, err.strip()[:200]))
        return
    admitted = {line['traffic']: line['admitted'] == 1 for line in tables.get('connections', [])}
    result.requests += len(rows)
    ask(heddle, path, rows, [], admitted, {}, result)


def check(case, heddle, path, bounds_of=None):
    """Runs one case, whose scenario is in the file `path`."""
    result = Result()
    status, tables, err = heddle.tables(['sim', path, '--json', '--threads', '1', '-q'])
    if status is None:
        result.violate('timeout', None, 'sim does not end within %d s' % heddle.timeout)
        return result
    if status == 3:
        result.outcome, result.message = 'refused', err.strip()
        if err.count('\n') != 1 or not err.startswith('heddle: '):
            result.violate('message', None, 'refusal is not one line: ' + err.strip()[:200])
        return result
    if tables is None:
        result.violate('crash', None, 'sim: status %s: %s' % (status, err.strip()[:200]))
        return result
    traffic = {r['traffic']: r for r in tables['traffic']}
    connections = {r['traffic']: r for r in tables.get('connections', [])}
    admitted = {}
    case.measure = tables['summary'][0]['measured'] * 1e-6
    stopped = 'deadlock' in tables or (status == 1 and not case.has('jobs'))
    if stopped:
        result.outcome = 'deadlock'
        return result
    for name, line in connections.items():
        if line['asked']:
            admitted[name] = line['admitted'] == line['asked']
    bounds = bounds_of(case, path, admitted) if bounds_of else {}
    for row in case.rows:
        connection = connections.get(row.name)
        if connection is None:
            result.violate('silent', row, 'no line in the table connections')
            continue
        if not connection['asked']:
            continue
        if row.flows == 1 and not admitted[row.name]:
            continue
        result.admitted += 1
        check_rate(case, row, tables, traffic[row.name], bounds.get(row.name), result)
        if row.flows == 1:
            check_latency(row, tables, traffic[row.name], bounds, result)
    check_release(case, admitted, result)
    for row in case.besteffort if not case.has('sizes') else []:
        line = traffic[row['name']]
        if line['offered'] and not line['delivered'] and not (line['lost'] and case.has('failure')):
            result.violate('starved', None, "best effort '%s' delivers nothing" % row['name'])
    if case.has('jobs'):
        check_jobs(case, tables, result)
    check_agreement(case, heddle, path, admitted, traffic, result)
    if case.number % 2 == 0 and not case.bounds:
        check_crowd(case, heddle, path, result)
    return result


def check_release(case, admitted, result):
    if not case.release:
        return
    first, early, late = case.release
    if not admitted.get(first.name):
        return
    if admitted.get(early.name):
        result.violate('release', early, 'admitted before the slots of its predecessor are back')
    # Other rows that started meanwhile may hold the slots.
    if not case.has('arrivals') in ('films', 'calls', 'both') and not case.has('changes') and admitted.get(late.name) is False:
        result.violate('release', late, 'refused although its predecessor has gone')


def check_jobs(case, tables, result):
    reasons = [f['problem'] for f in tables.get('failed operations', [])]
    for row in tables.get('jobs', []):
        if row['completion'] is None:
            if case.job_rate is None and not reasons:
                result.violate('job', None, "job '%s' does not end, and no operation says why" % row['job'])
            elif case.job_rate and not broken(tables, row['job'])[0]:
                result.violate('job', None, "job '%s' does not end: %s" % (row['job'], reasons[:1]))
        elif case.job_rate and not broken(tables, row['job'])[0]:
            steps = 2 * (row['ranks'] - 1)
            round_time = 64 * 66 * 64 * 8 / slowest(case)
            most = steps * (generate.JOB_BYTES / row['ranks'] * 8 / (SHARE * case.job_rate) + 4 * round_time)
            if row['completion'] * 1e-6 > most:
                result.violate('job', None, "job '%s' takes %.3f us, at most %.3f us by its reservation" % (
                    row['job'], row['completion'], most * 1e6))
