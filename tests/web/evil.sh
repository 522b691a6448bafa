# evil*.yaml: scenarios and other files all of whose names would like to be markup.
EVIL='"><img src=x onerror=window.smuggled=1><script>window.smuggled=1</script>'
cat >evil.ibnet <<END
vendid=0x2c9
Switch  4 "S-0000000000000001"          # "$EVIL" enhanced port 0 lid 1 lmc 0
[1]     "H-0000000000000011"[1](12)             # "a$EVIL" lid 2 4xHDR
[2]     "H-0000000000000021"[1](22)             # "b$EVIL" lid 3 4xHDR
Ca      1 "H-0000000000000011"          # "a$EVIL"
[1](12)         "S-0000000000000001"[1]         # lid 2 lmc 0 "x" lid 1 4xHDR
Ca      1 "H-0000000000000021"          # "b$EVIL"
[1](22)         "S-0000000000000001"[2]         # lid 3 lmc 0 "x" lid 1 4xHDR
END
cat >evil.yaml <<END
title: '$EVIL'
fabric: {topology: {file: evil.ibnet}, groups: [{name: 'g$EVIL', members: 'a$EVIL,b$EVIL'}]}
qos: {vls: 2, classes: [{name: '$EVIL', sl: 0}]}
traffic: [{name: '$EVIL', class: '$EVIL', kind: cbr, payload: 1KiB, load: 20%, pattern: permutation}]
run: {warmup: 1us, measure: 20us}
END
# Jobs, what is asked of them, and a cable that fails, which they do not survive.
cp evil.yaml evil-job.yaml
cat >>evil-job.yaml <<END
goals: [{row: '$EVIL', lost: 0}]
jobs: [{name: 'j$EVIL', ranks: 2, program: [{allreduce: 4KiB}]}]
faults: {events: [{at: 9us, kind: link-down, port: 'a$EVIL:1'}]}
END
# A study, an experiment and an adapter.
EVIL_TITLES='a<img src=x onerror=window.smuggled=1>,b<script>window.smuggled=1</script>'
cat >evil-paper.yaml <<END
paper: my
title: '$EVIL'
experiments:
- id: a
  title: '$EVIL'
  command: bench post-send
  checks: [{what: '$EVIL', table: post-send, column: t_avg, published: '0.9'}]
  verdict: matched
END
awk -v evil="$EVIL" '/^about: / { $0 = "about: \047" evil "\047" } { print }' \
	"$SRC/src/hca/profiles/mt23108.yaml" >evil-profile.yaml
