# cmake -DOUT= -DNAME= -DTYPE= -DHEADER= -DROOT= -DLIST= -P embed.cmake
# Writes OUT: 'const struct TYPE NAME[]' of { name, bytes, length } for every
# file that LIST names, one a line; names are seen from ROOT; ends with NULL.
file(STRINGS "${LIST}" files)
set(arrays "")
set(rows "")
set(n 0)
foreach(path IN LISTS files)
  file(READ "${path}" hex HEX)
  file(RELATIVE_PATH name "${ROOT}" "${path}")
  string(LENGTH "${hex}" len)
  math(EXPR len "${len} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  # A file may be empty, an array may not.
  string(APPEND arrays "static const unsigned char file_${n}[] = {${bytes}0};\n")
  string(APPEND rows "\t{ \"${name}\", file_${n}, ${len} },\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE "${OUT}" "/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by cmake/embed.cmake. */
#include \"${HEADER}\"

${arrays}
const struct ${TYPE} ${NAME}[] = {
${rows}\t{ 0 },
};
")
