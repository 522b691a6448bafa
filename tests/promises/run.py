#!/usr/bin/env python3
# Runs generated scenarios with reservations and checks the promise laws. README.md has examples.
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bound
import generate
import laws


def options():
    parser = argparse.ArgumentParser(description='checks the promise laws on generated scenarios')
    parser.add_argument('--heddle', default='build/release/heddle')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=400)
    parser.add_argument('--first', type=int, default=0, help='number of the first case')
    parser.add_argument('--case', type=int, help='only this case')
    parser.add_argument('--pair', metavar='A,B', help='only cases of this pair of features (one name: all its pairs)')
    parser.add_argument('--extra', type=int, default=0, help='further random features of each case')
    parser.add_argument('--bounds', action='store_true', help='cases for which bound.py has a bound, to compare it with the simulation')
    parser.add_argument('--laws', help='only violations of these laws count, as bound,rate')
    parser.add_argument('--median', type=float, help='with --bounds: most that the bound may be, as a multiple of the simulated maximum, in the median')
    parser.add_argument('--known', help='file with the laws that may be violated: lines LAW FEATURE (* fits all)')
    parser.add_argument('--keep', metavar='FOLDER', help='keep the scenarios of violations here')
    parser.add_argument('--show', action='store_true', help='print the scenarios instead of running them')
    parser.add_argument('--oracle', metavar='PROGRAM', help='replay short forms of the cases by engine and oracle (promises_replay)')
    parser.add_argument('--matrix', action='store_true', help='print the number of cases of each pair')
    parser.add_argument('--quiet', action='store_true', help='print totals only')
    parser.add_argument('--part', metavar='K/N', help='only every N-th case, beginning with the K-th')
    return parser.parse_args()


def selected(args):
    if args.case is not None:
        return [args.case]
    numbers = range(args.first, args.first + args.count)
    if args.pair:
        names = set(args.pair.split(','))
        for name in names:
            if name not in generate.FEATURES:
                sys.exit("run.py: no feature '%s' (one of %s)" % (name, ', '.join(generate.FEATURES)))
        fitting = [p for p in range(len(generate.PAIRS)) if names <= set(generate.PAIRS[p])]
        numbers = [r * len(generate.PAIRS) + p for r in range(args.count) for p in fitting][:args.count]
    if args.part:
        part, parts = (int(n) for n in args.part.split('/'))
        numbers = list(numbers)[part - 1::parts]
    return numbers


def normal(message):
    """A refusal without file, place and numbers, for counting."""
    message = re.sub(r'^heddle: \S+?\.yaml(:\d+:\d+)?: ', '', message)
    return re.sub(r"'[^']*'", "'...'", re.sub(r'\d+', 'N', message))[:150]


class Totals:
    def __init__(self):
        self.outcomes = collections.Counter()
        self.pairs = collections.Counter()
        self.refused_pairs = collections.Counter()
        self.messages = collections.Counter()
        self.laws = collections.Counter()
        self.by_feature = collections.defaultdict(collections.Counter)
        self.cases_of_feature = collections.Counter()
        self.rows = 0
        self.reported = 0
        self.ratios = []

    def add(self, case, result):
        self.outcomes[result.outcome] += 1
        self.rows += result.admitted
        self.reported += len(result.reported)
        names = sorted(case.values, key=list(generate.FEATURES).index)
        for pair in ((a, b) for a in names for b in names if names.index(a) < names.index(b)):
            self.pairs[pair] += 1
            self.refused_pairs[pair] += result.outcome == 'refused'
        if result.outcome == 'refused':
            self.messages[normal(result.message)] += 1
        for name in names:
            self.cases_of_feature[name] += 1
            for law in {v.law for v in result.violations}:
                self.by_feature[name][law] += 1
        for law in {v.law for v in result.violations}:
            self.laws[law] += 1
        self.ratios += [r for r, _ in result.ratios]

    def median(self):
        return sorted(self.ratios)[len(self.ratios) // 2] if self.ratios else 0

    def show(self, args):
        print('# %d cases: %s; %d admitted rows, %d reported as broken' % (
            sum(self.outcomes.values()), ', '.join('%d %s' % (n, o) for o, n in sorted(self.outcomes.items())),
            self.rows, self.reported))
        names = sorted(self.laws)
        if names:
            print('# cases that violate a law, by feature')
            print('%-14s %6s' % ('feature', 'cases') + ''.join('%17s' % n for n in names))
            for feature in generate.FEATURES:
                if self.cases_of_feature[feature]:
                    print('%-14s %6d' % (feature, self.cases_of_feature[feature]) +
                          ''.join('%17s' % (self.by_feature[feature][n] or '.') for n in names))
            print('%-14s %6d' % ('all', sum(self.outcomes.values())) + ''.join('%17d' % self.laws[n] for n in names))
        if self.messages:
            print('# refusals')
            for message, count in self.messages.most_common():
                print('%6d  %s' % (count, message))
        if self.ratios:
            ratios = sorted(self.ratios)
            print('# independent bound / simulated maximum: %d rows, least %.3f, median %.3f, p90 %.3f, most %.3f' % (
                len(ratios), ratios[0], ratios[len(ratios) // 2], ratios[int(len(ratios) * 0.9)], ratios[-1]))
        missing = [p for p in generate.PAIRS if not self.pairs[p]]
        print('# pairs: %d of %d occur, %d of them only refused' % (
            len(generate.PAIRS) - len(missing), len(generate.PAIRS),
            sum(1 for p in self.pairs if self.pairs[p] == self.refused_pairs[p])))
        if args.matrix:
            self.show_matrix()

    def show_matrix(self):
        names = list(generate.FEATURES)
        print('# cases of each pair of features (refused ones after the slash)')
        print('%-13s' % '' + ''.join('%8s' % n[:7] for n in names[1:]))
        for a in names[:-1]:
            line = '%-13s' % a
            for b in names[1:]:
                if names.index(b) <= names.index(a):
                    line += '%8s' % ''
                else:
                    line += '%8s' % ('%d/%d' % (self.pairs[(a, b)], self.refused_pairs[(a, b)]))
            print(line)


def known_laws(path):
    if not path:
        return []
    with open(path) as file:
        return [line.split() for line in file if line.strip() and not line.startswith('#')]


def is_known(known, case, violation):
    return any(law in ('*', violation.law) and feature in ('*',) + tuple(case.values) for law, feature in known)


def replay(args, numbers):
    """Engine and oracle on the short forms; the status of the run."""
    counts = collections.Counter()
    for number in numbers:
        case = generate.Case(args.seed, number, args.extra)
        with tempfile.TemporaryDirectory(prefix='promises.') as folder:
            path = os.path.join(folder, 'case%d.yaml' % number)
            with open(path, 'w') as file:
                file.write(generate.text_of(generate.short_of(case), [case.label()]))
            done = subprocess.run([args.oracle, str(round(generate.SHORT_TIME * 1e6)), path], capture_output=True, text=True)
            if args.keep and done.returncode not in (0, 3):
                os.makedirs(args.keep, exist_ok=True)
                shutil.copy(path, args.keep)
        counts[{0: 'equal', 3: 'refused'}.get(done.returncode, 'different')] += 1
        if done.returncode not in (0, 3) or not args.quiet and args.case is not None:
            print('oracle: %s: %s' % (case.label(), (done.stdout + done.stderr).replace(path, '').strip()[:400]))
            print('    tests/promises/run.py --oracle %s --seed %d --case %d' % (args.oracle, args.seed, number))
    print('# oracle: %s' % ', '.join('%d %s' % (n, o) for o, n in sorted(counts.items())))
    return 1 if counts['different'] or not counts['equal'] else 0


def main():
    args = options()
    if args.oracle and not args.show:
        sys.exit(replay(args, selected(args)))
    known = known_laws(args.known)
    folder = tempfile.mkdtemp(prefix='promises.')
    totals = Totals()
    unknown = 0
    try:
        heddle = laws.Heddle(args.heddle, folder)
        bounds = bound.Bounds(heddle)
        for number in selected(args):
            case = generate.Case(args.seed, number, args.extra, heddle.knows_deadline, args.bounds)
            repeat = 'tests/promises/run.py --heddle %s --seed %d --case %d%s' % (
                args.heddle, args.seed, number,
                (' --extra %d' % args.extra if args.extra else '') + (' --bounds' if args.bounds else ''))
            text = generate.text_of(generate.short_of(case) if args.oracle else case.scenario, [case.label(), repeat])
            if args.show:
                print(text)
                continue
            path = os.path.join(folder, 'case%d.yaml' % number)
            with open(path, 'w') as file:
                file.write(text)
            result = laws.check(case, heddle, path, bounds.of_case)
            if args.laws:
                result.violations = [v for v in result.violations if v.law in args.laws.split(',')]
            totals.add(case, result)
            if not args.quiet:
                for v in result.violations:
                    print('%s: %s%s: %s' % (v.law, "row '%s': " % v.row.name if v.row else '', v.text, case.label()))
                    print('    ' + repeat)
            unknown += sum(1 for v in result.violations if not is_known(known, case, v))
            if args.keep and result.violations:
                os.makedirs(args.keep, exist_ok=True)
            if args.case is not None and result.outcome == 'refused':
                print(result.message)
            for name in os.listdir(folder):
                if name.startswith('case'):
                    if args.keep and result.violations:
                        shutil.copy(os.path.join(folder, name), args.keep)
                    os.unlink(os.path.join(folder, name))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not args.show:
        totals.show(args)
        print('# no independent bound: ' + ', '.join('%d %s' % (n, r) for r, n in sorted(bounds.reasons.items(), key=lambda i: -i[1])))
        if args.median and not 0 < totals.median() <= args.median:
            print('the median of the bounds is %.3f times the simulated maximum; at most %.3f is wanted' % (totals.median(), args.median))
            unknown += 1
    sys.exit(1 if unknown else 0)


main()
