# anew.sh FOLDER SCRIPT: the script, in a folder that is empty when it begins.
# What an earlier run has left there would be taken for what a program of this
# one, which has just been started, has written.
folder=$1
if [ -d "$folder" ]; then
	chmod -R u+rwx "$folder" # some of it may be what nobody was to write
	rm -rf "$folder"
fi
mkdir -p "$folder"
cd "$folder"
exec sh -eu "$2"
