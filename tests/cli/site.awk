# An ibnetdiscover file of the shape that a site of 96 hosts has: four leaves with
# 24 hosts, six cables from each to each of two spines, one of which has come up
# at a lower speed, and all switches named as their maker named them.
function sw(i) { return sprintf("e41d2d03000%05x", 4096 + 32 * i) }
function ca(n) { return sprintf("0002c903000%05x", 256 + 2 * n) }
function speed(leaf, port) { return leaf == 1 && port == 11 ? "4xDDR" : "4xEDR" }
function cable(number, far, port, leaf, leaf_port) {
	printf "[%d]\t\"S-%s\"[%d]\t\t# \"%s\" lid %d %s\n", number, sw(far), port, name,
		100 + far, speed(leaf, leaf_port)
}
function made(device, guid) {
	printf "vendid=0x2c9\ndevid=%s\nsysimgguid=0x%s\n", device, guid
}
BEGIN {
	name = "SwitchIB Mellanox Technologies"
	print "#\n# Topology file: generated on Mon Nov 16 12:00:00 2026\n#"
	print "# Initiated from node " ca(0) " port " ca(0)
	for (i = 0; i < 6; i++) {
		made("0xcb20", sw(i))
		printf "switchguid=0x%s(%s)\nSwitch\t36 \"S-%s\"\t\t# \"%s\" base port 0 lid %d lmc 0\n",
			sw(i), sw(i), sw(i), name, 100 + i
		for (k = 0; i < 4 && k < 12; k++)
			cable(k + 1, 4 + int(k / 6), 6 * i + k % 6 + 1, i, k + 1)
		for (n = 24 * i; i < 4 && n < 24 * i + 24; n++)
			printf "[%d]\t\"H-%s\"[1](%s) \t\t# \"node%03d HCA-1\" lid %d 4xEDR\n",
				13 + n % 24, ca(n), ca(n), n + 1, n + 1
		for (k = 0; i >= 4 && k < 24; k++)
			cable(k + 1, int(k / 6), 6 * (i - 4) + k % 6 + 1, int(k / 6),
				6 * (i - 4) + k % 6 + 1)
	}
	for (n = 0; n < 96; n++) {
		made("0x1017", ca(n))
		printf "caguid=0x%s\nCa\t1 \"H-%s\"\t\t# \"node%03d HCA-1\"\n", ca(n), ca(n), n + 1
		printf "[1](%s) \t\"S-%s\"[%d]\t\t# lid %d lmc 0 \"%s\" lid %d 4xEDR\n",
			ca(n), sw(int(n / 24)), 13 + n % 24, n + 1, name, 100 + int(n / 24)
	}
}
