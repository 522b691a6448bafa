# 'heddle bench fit': costs of an adapter from measurements by Heddle or perftest; the fitted
# profile predicts sizes that were not used for the fit.
. "$SRC/tests/cli/lib.sh"

sed 's/post_send: 900ns/post_send: 1500ns/
	s/doorbell: 300ns/doorbell: 900ns/
	s/rate: 8533Mb/rate: 5Gb/' "$SRC/src/hca/profiles/mt23108.yaml" >there.yaml
"$HEDDLE" bench send-lat send-bw --profile ./there.yaml -n 16 \
	--size 8..32KiB --step 4 --json -o there.json

# ---- output of perftest
jq -r '
	"                    Send Latency Test",
	" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ",
	(.tables["send-lat"].rows[] | " \(."#bytes")  1000  1  99  \(.t_typical)  \(.t_avg * 3)  0.5  9  99"),
	"                    Send BW Test",
	" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
	(.tables["send-bw"].rows[] | " \(."#bytes")  1000  9999  \(."BW average")  0.1")' \
	there.json >there.txt

"$HEDDLE" bench fit there.json -n 16 --into fitted.yaml --json -o fit.json
jq -e '.tables.fit.rows[0] | .["sizes fitted"] == 8 and .["sizes left out"] == 6
	and .["error of those left out"] < 4
	and .["error of those fitted"] < 4' fit.json >/dev/null ||
	fail "the fit is not good: $(jq -c .tables.fit.rows fit.json)"
jq -e '[.tables.sizes.rows[].use] |
	[(map(select(. == "fitted")), map(select(. == "left out"))) | length] ==
	[8, 6]' fit.json >/dev/null ||
	fail "not every size is shown: $(jq -c .tables.sizes fit.json)"
jq -e '.tables.costs.rows[] | select(.cost == "host.post_send")
	| .verdict == "fitted" and .fitted != .before' fit.json >/dev/null ||
	fail "$(jq -c .tables.costs.rows fit.json)"
jq -e '.notes | map(select(startswith("adapter.packet is held"))) | length == 1' \
	fit.json >/dev/null
"$HEDDLE" bench send-lat send-bw --profile ./fitted.yaml -n 16 \
	--size 8..32KiB --step 4 --json -o again.json
jq -n -e --slurpfile a there.json --slurpfile b again.json '
	[$a[0], $b[0] | [.tables["send-bw"].rows[]."BW average"]]
	| transpose | map(.[1] / .[0] - 1 | fabs) | max < 0.06' >/dev/null ||
	fail "the profile does not do what was measured"
# perftest's typical latency is used, not its average, which may include a late message.
"$HEDDLE" bench fit there.txt -n 16 >out
error=$(sed -n 's/ *error of those left out: \(.*\)\..* %/\1/p' out)
[ "$error" -lt 4 ] || fail "of perftest's text the fit is $error % off"

# ---- rejected input
status 2 "$HEDDLE" bench fit
has err 'fit needs at least one FILE of measurements'
status 2 "$HEDDLE" bench fit there.txt --fabric foo.yaml
status 3 "$HEDDLE" bench fit missing.txt --into none.yaml
one_line err
"$HEDDLE" bench send-lat --size 8..64 --json -o little.json
status 3 "$HEDDLE" bench fit little.json --into none.yaml
has err 'a fit needs 8 sizes'
"$HEDDLE" bench window-bw --size 4KiB --json -o axis.json
status 3 "$HEDDLE" bench fit axis.json --into none.yaml
has err 'no latency or bandwidth by size'
jq '.tables["send-lat"].rows[0].t_typical = -1' there.json >odd.json
status 3 "$HEDDLE" bench fit odd.json --into none.yaml
has err 'a row of send-lat has no size or no result'
one_line err
[ ! -e none.yaml ] || fail "a refused fit wrote a profile"
