# cmake -DOUT= -DROOT= -DBUILD= -P build_info.cmake
# Writes OUT: cli_build_info[], the commit of the sources and the kind of build. The file changes only
# if its text does. Without git, a source archive has its commit in cmake/commit.txt.
set(commit "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${ROOT}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${ROOT}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${ROOT}" diff --quiet HEAD
    RESULT_VARIABLE changed ERROR_QUIET)
  if(commit AND NOT changed EQUAL 0)
    string(APPEND commit " with changes")
  endif()
endif()
if(NOT commit)
  file(STRINGS "${ROOT}/cmake/commit.txt" commit LIMIT_COUNT 1)
  if(commit MATCHES "^[0-9a-f]+$")
    string(SUBSTRING "${commit}" 0 12 commit)
  else()
    set(commit "unknown")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by cmake/build_info.cmake. */
#include \"cli/build_info.h\"

const char cli_build_info[] = \"commit @commit@, @BUILD@\";
")
