#!/bin/bash
# Checks files that no tool of this machine runs: packaging/Containerfile, the Spack recipe,
# CITATION.cff, .github. All versions in them are that of CMakeLists.txt.
set -eu -o pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
fail() {
	echo "packaging: $*" >&2
	exit 1
}

# A Containerfile is a list of instructions; '\' continues one.
awk '/^[ \t]*(#|$)/ && !more { next }
	!more && !/^(FROM|RUN|COPY|WORKDIR|USER|ENTRYPOINT|CMD|ENV|ARG) / { print FNR ": " $0; bad = 1 }
	!more && /^(ENTRYPOINT|CMD) / && !/ \[("[^"]*"(, )?)+\]$/ { print FNR ": " $0; bad = 1 }
	{ more = /\\$/ }
	END { exit bad || more }' packaging/Containerfile || fail "packaging/Containerfile is malformed"
sed -n 's/^RUN //p' packaging/Containerfile | sed 's/\\$//' | sh -n || fail "Containerfile: RUN"

python3 - "$version" <<'END'
import ast, sys
import yaml

version = sys.argv[1]
recipe = ast.parse(open("packaging/spack/package.py").read())
(package,) = [node for node in recipe.body if isinstance(node, ast.ClassDef)]
assert package.name == "Heddle"
versions = [node.args[0].value for node in ast.walk(package) if isinstance(node, ast.Call)
            and getattr(node.func, "id", None) == "version"]
assert versions == [version], "spack: versions %s, expected %s" % (versions, version)

citation = yaml.safe_load(open("CITATION.cff"))
for key in "cff-version", "message", "title", "authors", "license":
    assert citation[key], "CITATION.cff: no " + key
assert citation["version"] == version, "CITATION.cff: version"

workflow = yaml.safe_load(open(".github/workflows/test.yml"))
steps = workflow["jobs"]["test"]["steps"]
assert any(step.get("run") == "make test" for step in steps), "workflow: no 'make test'"
END
for template in .github/ISSUE_TEMPLATE/*.md; do
	sed -n '1,/^---$/{/^---$/!p};2,/^---$/p' "$template" | grep -q '^name: .' ||
		fail "$template has no name"
done
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no entry $version"
[ "$(wc -l <CHANGELOG.md)" -le 40 ] || fail "CHANGELOG.md is longer than 40 lines"
echo "6 files, version $version"
