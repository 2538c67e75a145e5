# Writes a file's bytes as a C array: cmake -DFROM=... -DTO=... -DNAME=... -P embed.cmake
file(READ ${FROM} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${TO} "#include <stddef.h>
extern const unsigned char ${NAME}_bytes[];
extern const size_t ${NAME}_length;
const unsigned char ${NAME}_bytes[] = {${bytes}0};
const size_t ${NAME}_length = sizeof ${NAME}_bytes - 1;
")
