# The fabric that tools ask (live_ask.sh): its words, what 'live up' says of it,
# and the switches between its first host and its last.
fabric='fat-tree --radix 36 --levels 2' size='648 hosts, 54 switches' steps=3
[ -z "${HD_LONG:-}" ] || {
	fabric='xgft --down 18,18,6 --up 1,18,18'
	size='1944 hosts, 540 switches' steps=5
}
