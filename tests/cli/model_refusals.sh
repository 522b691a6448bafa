# Parameters that break a rule of a model are refused with that rule, in one
# line, with exit status 3 and no output; what is no number is a usage error.
. "$SRC/tests/cli/lib.sh"

refuses() {
	words=$1
	shift
	status 3 "$HEDDLE" model "$@"
	empty out
	one_line err
	has err "heddle: $words"
}

misused() {
	words=$1
	shift
	status 2 "$HEDDLE" model "$@"
	empty out
	one_line err
	has err "$words"
}

for kind in ge et ajt; do
	refuses 'arrival rate 0: must be above 0' $kind --lambda 0
	refuses 'arrival rate -2: must be above 0' $kind --lambda=-2..2
	refuses 'arrivals: squared coefficient of variation Ca2 = 0.5: must be 1 to 1e9' \
		$kind --ca2 0.5
	refuses 'service: squared coefficient of variation Cs2 = 0.9: must be 1 to 1e9' \
		$kind --cs2 1,0.9
done
refuses 'service rate 0: must be above 0' ge --mu 0
refuses 'service rate 0: must be above 0' et --mu 8,0
refuses 'capacity 0: must be 1 to 10000000' ge --capacity 0
refuses 'capacity 2.5: must be a whole number, not negative' ge --capacity 2.5
refuses 'capacity -1: must be a whole number, not negative' ge --capacity=-1
refuses 'option --capacity: expected one value, not 2' ge --capacity 3,4
refuses 'threshold 17 lies beyond the capacity 16' et --threshold 17
refuses 'threshold 1: must be at least 2, the first service rate applies below it' \
	et --threshold 1
refuses 'threshold 8 follows 16: thresholds must rise' ajt --threshold 16,8
refuses 'threshold 8 follows 8: thresholds must rise' ajt --threshold 8,8
refuses "2 thresholds are given; 'model et' takes 1 to 1" et --mu 1,2,3 --threshold 4,8
refuses '1 thresholds divide the queue into 2 regions, but --mu has 3 rates' \
	ajt --threshold 8
refuses '2 thresholds divide the queue into 3 regions, but --mu has 1 rates' \
	ajt --mu 8
refuses 'capacity 25 cannot be divided equally among 3 regions; add --rooms' \
	ajt --semantics s2 --capacity 25
refuses 'option --rooms: 2 values for 3 regions' ajt --rooms 8,24
refuses 'room 7 of region 1 is less than the level 8 that ends it' \
	ajt --rooms 7,16,24
refuses 'room 30 exceeds the capacity 24' ajt --rooms 8,30,24
refuses 'capacity 2000: classes and fixed rooms are solved up to 1000' \
	ge --capacity 2000 --class 1:1 --class 2:1
refuses 'arrival rate 0: must be above 0' ge --class 1:2 --class 0:2
refuses 'arrivals: squared coefficient of variation Ca2 = 0.1: must be 1 to 1e9' \
	ge --class 1:0.1 --class 1:2
refuses 'too many points: 1000000000 (at most 10000000)' \
	ge --lambda 1..1000 --ca2 1..1000 --cs2 1..1000
refuses 'too many levels: 8 points with 1000000001 levels each (at most 1e9' \
	ge --capacity 1000000000

refuses 'lambda = 0: a rate must be above 0' credit --lambda 0
refuses 'mu1 = -1: a rate must be above 0' credit --mu1=-1
refuses 'mu2 = 0: a rate must be above 0' credit --mu2 0
refuses 'upstream capacity 0: must be at least 1 packet' credit --upstream 0
refuses 'downstream capacity 0: must be at least 1 packet' credit --downstream 0..3
refuses 'upstream 4000 and downstream 4000 need more than 4194304 states' \
	credit --upstream 4000 --downstream 4000
refuses 'credit delay -1: must not be negative' credit --credit-delay=-1
refuses '--paired needs equally many values: 3 upstream and 2 downstream values are given' \
	credit --paired --upstream 1..3 --downstream 1,2

refuses 'lambda 2 is not below mu 2: an unlimited queue would grow for ever' \
	queue mm1 --lambda 2 --mu 2
refuses 'service rate 0: must be above 0' queue md1 --mu 0
refuses 'service variability Cs2 = -1: must not be negative' \
	queue mg1 --cs2=-1
refuses 'capacity 0: must be 1 to 100000000' queue mm1n --capacity 0
refuses '0 classes: must be 1 to 16' queue priority
refuses 'arrival rate 0: must be above 0' queue priority --class 0:1
refuses 'weight 0: must be a whole number in 1..255' \
	queue sharing --class 1:0
refuses 'packet of 0 bytes: must be a whole number in 1..65536' \
	queue sharing --class 1:1:0
refuses 'link rate 0: must be above 0' queue sharing --mu 0 --class 1:1
refuses 'offered load 0: must be above 0' queue sharing --class 0:1

misused "'x' is not a list of numbers" ge --lambda x
misused "'8..1' is not a list of numbers" ge --lambda 8..1
misused "'5' is not in 1000..10000000000" ge --simulate 5
misused "'1' is not 2 numbers separated by ':'" ge --class 1
misused '--class cannot be used with --lambda or --ca2' ge --class 1:1 --lambda 3
misused "option --phases: '0' is neither 1 to 64 nor 'fixed'" \
	credit --phases 0
misused "option --phases: '65' is neither" credit --phases 65
misused '--phases fixed has no closed form' credit --phases fixed
misused 'missing argument: expected mm1|mm1n|md1|mg1|priority|sharing' queue
misused "(did you mean 'priority'?)" queue priorty
misused '--class requires the model priority or sharing' queue mm1 --class 1:2
misused "unexpected argument '5'" credit 5

# What is refused leaves the old file alone.
echo old >kept.csv
status 3 "$HEDDLE" model ge --lambda 1,2,0 -o kept.csv
[ "$(cat kept.csv)" = old ] || fail 'a refusal touched the output file'
