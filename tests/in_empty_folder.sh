# in_empty_folder.sh FOLDER SCRIPT: runs the script in an empty folder. A file of
# an earlier run would be mistaken for the output of a program of this run.
folder=$1
if [ -d "$folder" ]; then
	chmod -R u+rwx "$folder" # a test may have left files without write permission
	rm -rf "$folder"
fi
mkdir -p "$folder"
cd "$folder"
exec sh -eu "$2"
