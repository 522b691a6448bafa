# SPDX-License-Identifier: BSD-2-Clause
# A recipe for Spack. Put it into packages/heddle/ of a Spack repository:
#	spack repo create my-repo && mkdir my-repo/packages/heddle
#	cp packaging/spack/package.py my-repo/packages/heddle/ && spack repo add my-repo
#	spack install heddle
# Untested: the machines that test Heddle have no Spack. ci/packaging.sh checks the syntax.
from spack.package import *


class Heddle(CMakePackage):
    """An InfiniBand fabric in software: simulation, routing, QoS planning, live fabrics."""

    license("BSD-2-Clause")

    # 'make dist' writes the archive; sha256 is that of the published file.
    version("0.2.0", url="file:///tmp/heddle-0.2.0.tar.gz")

    variant("live", default=True, description="live fabrics for unmodified programs")
    variant("mpi", default=True, description="runs on several processes; recording of MPI programs")

    depends_on("c", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("libyaml")
    depends_on("libpcap")
    depends_on("libmicrohttpd")
    depends_on("metis@5:")
    depends_on("sqlite@3")
    depends_on("superlu@5")
    depends_on("zlib-api")
    depends_on("isa-l")
    depends_on("rdma-core")
    depends_on("openmpi", when="+mpi")

    def cmake_args(self):
        return [
            self.define_from_variant("HEDDLE_LIVE", "live"),
            self.define("BUILD_TESTING", False),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_program(self):
        Executable(self.prefix.bin.heddle)("--version")
