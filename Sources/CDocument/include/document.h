#pragma once

#include <stddef.h>

/// The bytes of conf/openapi.json, and how many they are.
const unsigned char *weir_openapi(size_t *count);
