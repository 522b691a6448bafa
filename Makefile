# 'make demo' and 'make test' need a Debian 12 machine only: missing packages of ci/deps.txt are
# installed first.
.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help build demo test test-long test-rxe test-aarch64 \
	test-fresh bench bench-live lint hooks fuzz install uninstall \
	dist deb wheel site clean

PREFIX  ?= /usr/local
DESTDIR ?=
export DESTDIR JOBS FUZZ_SECONDS

help:
	@echo 'make demo       build Heddle and show what it does'
	@echo 'make            only build it: build/release/heddle'
	@echo 'make test       every check and test (see ci/check.sh)'
	@echo 'make test-long  the same with full counts; takes much longer'
	@echo 'make test-rxe   on the Linux kernel'"'"'s Soft-RoCE, in QEMU'
	@echo 'make test-aarch64  on an emulated 64-bit ARM processor'
	@echo 'make test-fresh  make demo, make test and make deb on a new minimal Debian'
	@echo 'make bench      measure our own speed against the stated goals'
	@echo 'make bench-live  OpenSM on a live fabric and on ibsim; verbs there'
	@echo 'make lint       format, layers, words, man pages, clang-tidy, cppcheck'
	@echo 'make hooks      check commits before they are made'
	@echo 'make fuzz       fuzz every parser (FUZZ_SECONDS=60 for each)'
	@echo 'make install    to $$(DESTDIR)$$(PREFIX); PREFIX is /usr/local'
	@echo 'make uninstall  remove what make install installed'
	@echo 'make dist       a source archive in build/dist'
	@echo 'make deb        Debian packages in build/deb'
	@echo 'make wheel      a Python wheel in build/wheel'
	@echo 'make site       the documentation as web pages in build/site'
	@echo 'make clean      remove build/'

build:
	@ci/deps.sh build
	@TARGET=product ci/build.sh release

demo:
	@ci/deps.sh build
	@PROGRESS=1 TARGET=product ci/build.sh release
	@ci/demo.sh build/release/heddle

test:
	@ci/deps.sh
	@ci/check.sh all

test-long:
	@ci/deps.sh
	@ci/check.sh long

# On the Linux kernel's software adapter, in an emulated machine: minutes.
test-rxe:
	@ci/deps.sh rxe
	@ci/build.sh release
	@ci/test-rxe.sh

# What is written for each processor, and all that needs no library.
test-aarch64:
	@ci/deps.sh aarch64
	@ci/aarch64.sh

# A new minimal Debian, a clone, the README's two commands, the packages.
test-fresh:
	@ci/deps.sh fresh
	@ci/test-fresh.sh

bench:
	@ci/deps.sh
	@ci/build.sh release
	@ci/bench.sh build/release

# OpenSM on a live fabric and on ibsim, in turn, up to 11,664 hosts; what verbs
# cost there.
bench-live:
	@ci/deps.sh
	@ci/build.sh release
	@ci/bench_live.sh build/release/heddle
	@ci/bench_verbs.sh build/release/heddle

lint:
	@ci/deps.sh
	@ci/check.sh lint

# The hooks of ci/hooks, for this clone and its work trees.
hooks:
	@git config core.hooksPath ci/hooks

fuzz:
	@ci/deps.sh
	@ci/build.sh fuzz
	@ci/fuzz.sh grow

# The prefix of the configuration decides on LIBDIR: /usr has a folder per architecture.
install:
	@ci/deps.sh build
	@TARGET=product ci/build.sh release -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	@cmake --install build/release --prefix '$(PREFIX)' >build/install.log || \
		{ cat build/install.log; exit 1; }
	@echo 'installed to $(DESTDIR)$(PREFIX)'

uninstall:
	@ci/uninstall.sh build/release '$(PREFIX)'

dist:
	@ci/dist.sh build/dist

deb:
	@ci/deps.sh package
	@ci/deb.sh build/deb

wheel:
	@ci/deps.sh package
	@ci/build.sh release
	@ci/wheel.sh build/wheel build/release

site:
	@ci/deps.sh package
	@ci/build.sh release
	@ci/site.py build/site build/release

clean:
	@rm -rf build
