# Real tools agree: OpenSM on fabrics of ours, served by ibsim, gives the LIDs
# and tables that we compute; and it takes tables of ours and programs them.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/ibsim.sh"
needs opensm dump_fts ibnetdiscover

# bring_up FABRIC [OPENSM OPTIONS...]: leaves what the tools tell in files.
bring_up() {
	enter_fabric "$@"
	in_fabric ibnetdiscover >found
	in_fabric dump_fts >tables
	leave_fabric
}

same() { # FILE OPTIONS...: our tables are that file's
	file=$1
	shift
	"$HEDDLE" route found "$@" >ours
	cmp ours "$file" || fail "$* on $fabric"
}

for fabric in 'mesh --columns 3 --rows 3 --hosts 2' \
	'torus --sizes 4x4 --hosts 2' 'fat-tree --radix 6 --levels 3' \
	'irregular --switches 12 --degree 3' 'dragonfly --routers 4 --globals 2'
do
	bring_up "$fabric"
	# Our LIDs and minhop, from nothing but the cables.
	same dumps/opensm-lfts.dump --lids opensm --dump opensm
	same dumps/opensm.fdbs --lids opensm --dump fdbs
	same tables --lids opensm --dump fts
	# Their tables, read and written.
	same tables --engine file --routes dumps/opensm-lfts.dump --dump fts
	same dumps/opensm-lfts.dump --engine file --routes tables --dump opensm
done
bring_up 'fat-tree --radix 6 --levels 3' -l 1
same dumps/opensm-lfts.dump --lids opensm --lmc 1 --dump opensm
# Trees that OpenSM routes have no way from top to top: no fault of theirs.
for engine in updn ftree; do
	bring_up 'fat-tree --radix 6 --levels 3' -R $engine
	status 0 "$HEDDLE" route found --engine file \
		--routes dumps/opensm-lfts.dump --check
	has out "entries lead nowhere, but no end port's packets meet them"
done
# dump_fts leaves out LID 64, the last: not the fabric's fault.
bring_up 'star --hosts 63'
status 0 "$HEDDLE" route found --engine file --routes \
	dumps/opensm-lfts.dump --check
status 1 "$HEDDLE" route found --engine file --routes tables --check
has out 'dump_fts leaves it out where it is a multiple of 64'

# OpenSM programs routes of ours (-R file -U).
for engine in ftree dfsssp; do
	bring_up 'fat-tree --radix 6 --levels 3'
	"$HEDDLE" route found --engine $engine --dump opensm -o wanted.dump
	"$HEDDLE" route found --engine $engine --dump fts -o wanted
	bring_up 'fat-tree --radix 6 --levels 3' -R file -U "$PWD/wanted.dump"
	cmp tables wanted || fail "OpenSM did not take the routes of $engine"
done
