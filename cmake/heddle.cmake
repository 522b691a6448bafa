# The whole build vocabulary of the project: hd_module, hd_product, hd_test,
# hd_script_test, hd_bench, hd_fuzz.

# Warnings are errors with the compilers that CI has; a newer one may warn of
# more, which must not keep a user from building.
set(hd_werror ${HD_WERROR})
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION
    VERSION_GREATER_EQUAL 13) OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND
    CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 15))
  set(hd_werror OFF)
endif()

# A row of a table may leave out its last fields: they are zero by the language.
add_library(hd_flags INTERFACE)
target_compile_options(hd_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wpointer-arith -Wundef
  -Wno-missing-field-initializers
  $<$<BOOL:${hd_werror}>:-Werror>)
# The same objects make the program and the shared library (src/api), of which
# only what heddle.h names is seen.
target_compile_options(hd_flags INTERFACE -fPIC -fvisibility=hidden)
target_include_directories(hd_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(hd_flags INTERFACE
  _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700
  $<$<NOT:$<CONFIG:Release>>:HD_CHECKS=1>)
# The program reads files of strangers: what it is released with ends an overrun
# of ours instead of obeying it. The sanitizers do that better where they are.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HD_SANITIZE)
  target_compile_options(hd_flags INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(hd_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> -Wl,-z,relro,-z,now)
endif()
if(HD_SANITIZE)
  target_compile_options(hd_flags INTERFACE
    -fsanitize=${HD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hd_flags INTERFACE -fsanitize=${HD_SANITIZE})
endif()
# What the sanitizers note of each object and check are ten megabytes full of
# addresses: programs at a fixed place need not change them whenever they start.
if(HD_SANITIZE MATCHES "address")
  target_link_options(hd_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(HD_FUZZ)
  # The modules themselves must report coverage, not only the harness.
  target_compile_options(hd_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# src/modules.txt says which module uses which.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/modules.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/src/modules.txt hd_rows REGEX "^[a-z/]+:")
# HEDDLE_LIVE=OFF removes the rows of the live fabric, and its modules from other rows.
set(hd_live_modules "^(live|mgmt)(/[a-z]+)?")
if(NOT HEDDLE_LIVE)
  list(FILTER hd_rows EXCLUDE REGEX "${hd_live_modules}:")
endif()

# hd_module(<name> SOURCES <f.c>... [USES <module>...] [LIBS <library>...])
# One module = one static library, linked to the modules of its row. The library
# of model/des is model_des. Outside src/, where there are no rows, to USES.
function(hd_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBS" ${ARGN})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(uses ${hd_rows})
  list(FILTER uses INCLUDE REGEX "^${path}:")
  string(REGEX REPLACE "^[^:]*: *" "" uses "${uses}")
  string(REPLACE " " ";" uses "${uses}")
  if(NOT HEDDLE_LIVE)
    list(FILTER uses EXCLUDE REGEX "${hd_live_modules}$")
  endif()
  list(APPEND uses ${ARG_USES})
  list(TRANSFORM uses REPLACE "/" "_")
  list(TRANSFORM uses PREPEND hd_)
  add_library(hd_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(hd_${name} PUBLIC hd_flags ${uses} ${ARG_LIBS} m)
endfunction()

# hd_product(<target>...)  -- what 'make install' installs, and 'make' builds.
add_custom_target(product)
function(hd_product)
  add_dependencies(product ${ARGN})
endfunction()

# Tests that can do more than CI has time for look for HD_LONG=1 in their
# environment; then they also have an hour instead of seconds. With sanitizers,
# which watch how a case is computed and not what comes out, those that draw
# many cases draw a share of them, HD_LIGHT=1, and PLAIN ones are left out;
# 'make test-long' turns that off.
set(hd_light OFF)
if(HD_SANITIZE AND HD_LIGHT)
  set(hd_light ON)
endif()

# hd_leaves_out(<variable> <plain> <threads>): is a test of this kind not one of
# this build? The sanitizer of threads sees those that have some, PLAIN or not.
function(hd_leaves_out variable plain threads)
  set(${variable} OFF PARENT_SCOPE)
  if(NOT BUILD_TESTING OR (HD_SANITIZE STREQUAL "thread" AND NOT threads) OR
      (plain AND hd_light AND NOT HD_SANITIZE STREQUAL "thread"))
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

# hd_label_test(<name> <threads> <live>): tests with THREADS have the label
# 'threads', those of the live fabric the label 'live'. The error output of a
# daemon is not read: with the thread sanitizer a race ends the process.
function(hd_label_test name threads live)
  if(threads)
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
  endif()
  if(live)
    set_property(TEST ${name} APPEND PROPERTY LABELS live)
  endif()
  if(HD_SANITIZE STREQUAL "thread")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      TSAN_OPTIONS=halt_on_error=1)
  endif()
endfunction()

function(hd_limit_test name seconds)
  # Who may take long goes first, also where ctest has not run yet: else one
  # processor would wait for the last of them.
  set_tests_properties(${name} PROPERTIES COST ${seconds})
  if(HD_LONG)
    set(seconds 3600)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT HD_LONG=1)
  elseif(hd_light)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT HD_LIGHT=1)
  endif()
  # A limit ends what hangs; a machine with other work is slow, and no failure.
  # The sanitizer of threads takes some ten times as long, and threads that wait
  # for each other longer still.
  math(EXPR seconds "5 * ${seconds}")
  if(HD_SANITIZE STREQUAL "thread")
    math(EXPR seconds "6 * ${seconds}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
endfunction()

# Some 300 programs are linked only to be tested: fast, if LLVM's linker is
# there. What is installed is linked by the system's own.
find_program(HD_LLD ld.lld)
function(hd_link_fast target)
  if(HD_LLD)
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
endfunction()

# hd_test(<module> <file_test>... [PLAIN] [THREADS] [TIMEOUT <seconds>]
#         [USES <module>...] [SOURCES <extra.c>...] [LIBS <library>...])
# <file_test>.c is in the folder of <file>.c. Tests that read files find them through
# HD_SOURCE_DIR, those that run the program through HD_PROGRAM. PLAIN ones are
# left out of builds with sanitizers (CONTRIBUTING.md says which those are), and
# in those that compute on several THREADS the preset tsan looks for races.
# What is in no module, as parts of preloaded libraries, is among the SOURCES.
function(hd_test module)
  cmake_parse_arguments(ARG "PLAIN;THREADS" "TIMEOUT" "USES;SOURCES;LIBS" ${ARGN})
  hd_leaves_out(left_out "${ARG_PLAIN}" "${ARG_THREADS}")
  if(left_out)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  string(REGEX MATCH "^(live|mgmt)(_|$)" live "${module}")
  list(TRANSFORM ARG_USES PREPEND hd_)
  find_package(cmocka REQUIRED)
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(t ${source} NAME)
    add_executable(${module}_${t} ${source}.c ${ARG_SOURCES})
    hd_link_fast(${module}_${t})
    set_target_properties(${module}_${t} PROPERTIES OUTPUT_NAME ${t})
    if(HD_SANITIZE)
      # What is tested runs; what tests it is mostly compiled.
      target_compile_options(${module}_${t} PRIVATE -Og)
    endif()
    target_include_directories(${module}_${t} SYSTEM PRIVATE
      ${CMOCKA_INCLUDE_DIR})
    target_compile_definitions(${module}_${t} PRIVATE
      HD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
      HD_PROGRAM="${PROJECT_BINARY_DIR}/heddle")
    target_link_libraries(${module}_${t} PRIVATE
      $<TARGET_NAME_IF_EXISTS:hd_${module}> hd_flags ${ARG_USES} ${ARG_LIBS}
      ${CMOCKA_LIBRARIES})
    add_test(NAME ${module}.${t} COMMAND ${module}_${t})
    hd_limit_test(${module}.${t} ${ARG_TIMEOUT})
    hd_label_test(${module}.${t} "${ARG_THREADS}" "${live}")
  endforeach()
endfunction()

# hd_script_test(<name> <script> [PLAIN] [THREADS] [LIVE] [TIMEOUT <seconds>])
# A shell script that makes one claim about the program. It runs in an empty
# scratch folder of its own with HEDDLE (the binary) and SRC (the source tree) set.
# LIVE ones need the live fabric: HEDDLE_LIVE=OFF leaves them out.
function(hd_script_test name script)
  cmake_parse_arguments(ARG "PLAIN;THREADS;LIVE" "TIMEOUT" "" ${ARGN})
  hd_leaves_out(left_out "${ARG_PLAIN}" "${ARG_THREADS}")
  if(left_out OR (ARG_LIVE AND NOT HEDDLE_LIVE))
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND sh -eu ${PROJECT_SOURCE_DIR}/tests/in_empty_folder.sh
    ${CMAKE_CURRENT_BINARY_DIR}/scratch/${name}
    ${CMAKE_CURRENT_SOURCE_DIR}/${script})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "HEDDLE=${PROJECT_BINARY_DIR}/heddle;SRC=${PROJECT_SOURCE_DIR}")
  hd_limit_test(${name} ${ARG_TIMEOUT})
  hd_label_test(${name} "${ARG_THREADS}" "${ARG_LIVE}")
endfunction()

# hd_bench(<name> <module>... [SOURCES <extra.c>...] [LIBS <library>...])
# <name>.c is a benchmark (tests/bench/bench.h): 'make bench' runs it, and
# ctest runs it with HD_BENCH_TINY=1, so that it never rots. What it measures
# the sanitizers would only slow down.
function(hd_bench name)
  if(NOT BUILD_TESTING OR HD_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  list(TRANSFORM ARG_UNPARSED_ARGUMENTS PREPEND hd_)
  if(NOT TARGET hd_bench_driver)
    add_library(hd_bench_driver STATIC bench.c)
    target_link_libraries(hd_bench_driver PUBLIC hd_report)
    target_include_directories(hd_bench_driver PUBLIC .)
  endif()
  add_executable(bench_${name} ${name}.c ${ARG_SOURCES})
  hd_link_fast(bench_${name})
  target_link_libraries(bench_${name} PRIVATE
    hd_bench_driver ${ARG_UNPARSED_ARGUMENTS} ${ARG_LIBS})
  target_compile_definitions(bench_${name} PRIVATE
    HD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HD_PROGRAM="${PROJECT_BINARY_DIR}/heddle")
  add_test(NAME bench.${name} COMMAND bench_${name})
  set_tests_properties(bench.${name} PROPERTIES
    TIMEOUT 60 ENVIRONMENT HD_BENCH_TINY=1)
endfunction()

if(HD_FUZZ)
  add_custom_target(fuzzers)
endif()

# hd_fuzz(<name> <module>...)  -- <name>.c is a libFuzzer harness; its corpus
# is tests/fuzz/corpus/<name>. Built in the fuzz preset only.
function(hd_fuzz name)
  if(NOT HD_FUZZ)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND hd_)
  add_executable(fuzz_${name} ${name}.c)
  hd_link_fast(fuzz_${name})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
  add_dependencies(fuzzers fuzz_${name})
endfunction()

# hd_embed(<out.c> <array> <struct> <header> <file>...)
# Files as a C array of that struct: { name seen from the source, bytes, len }.
function(hd_embed out array type header)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${out}.list)
  list(JOIN ARGN "\n" lines)
  file(GENERATE OUTPUT ${list} CONTENT "${lines}\n")
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/${out}
      -DNAME=${array} -DTYPE=${type} -DHEADER=${header}
      -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${list}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${list} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
endfunction()
