#!/bin/bash
# Builds a Python wheel with libheddle inside and tests it in a fresh virtual environment:
# wheel.sh FOLDER BUILD
# The wheel has the tag of this machine's platform: it needs the C libraries of this Debian.
set -eu -o pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
abi=$(sed -n 's/^#define HD_ABI *//p' src/api/heddle.h)
scratch=$(mktemp -d --tmpdir heddle-wheel.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
rm -f "$out"/*.whl

# The module is one file. A package folder of the same name lets the library be next to it.
mkdir -p "$scratch/source/heddle"
cp src/api/heddle.py "$scratch/source/heddle/__init__.py"
cp -L "$build/libheddle.so.$abi" "$scratch/source/heddle/"
strip --strip-unneeded "$scratch/source/heddle/libheddle.so.$abi"
cp LICENSE README.md "$scratch/source/"
cat >"$scratch/source/pyproject.toml" <<END
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "heddle"
version = "$version"
description = "InfiniBand fabrics in software: libheddle for Python"
readme = "README.md"
license = {text = "BSD-2-Clause"}
requires-python = ">=3.7"

[tool.setuptools]
packages = ["heddle"]

[tool.setuptools.package-data]
heddle = ["libheddle.so.$abi"]
END
# Without a marked library setuptools would call the wheel independent of the platform.
cat >"$scratch/source/setup.py" <<'END'
from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython})
END
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 315532800)
export SOURCE_DATE_EPOCH
/usr/bin/python3 -m build --wheel --no-isolation --outdir "$out" "$scratch/source" \
	>"$out/build.log" 2>&1 || {
	tail -n 40 "$out/build.log" >&2
	exit 1
}

# The same run by the wheel and by the program has the same checksum.
/usr/bin/python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$out"/*.whl
cd "$scratch"
example=$OLDPWD/examples/quickstart.yaml
cat >check.py <<'END'
import sys
import heddle

assert heddle.__file__.startswith(sys.prefix), heddle.__file__
run = heddle.run(sys.argv[1])
assert run.rows("traffic")[0]["traffic"] == "voice"
print("%016x" % run.checksum)
END
mine=$(env -u HEDDLE_LIBRARY -u LD_LIBRARY_PATH venv/bin/python check.py "$example")
theirs=$("$build/heddle" sim "$example" --checksum | tr -d ' \n')
case $theirs in
*"$mine"*) ;;
*) echo "wheel: checksum $mine from the wheel, $theirs from the program" >&2; exit 1 ;;
esac
ls "$out"/*.whl
echo "wheel: installed into a virtual environment; checksum $mine as from the program"
