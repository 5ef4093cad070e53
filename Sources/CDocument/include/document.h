#pragma once

#include <stddef.h>

/// Returns the bytes of conf/openapi.json, and stores their number in `count`.
const unsigned char *weir_openapi(size_t *count);

/// Returns the commit that was built, ended by a zero; empty if it is not known.
const char *weir_commit(void);
