#include "document.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi[] = {
#embed "../../conf/openapi.json"
};

const unsigned char *weir_openapi(size_t *count) {
    *count = sizeof openapi;
    return openapi;
}

#ifndef WEIR_COMMIT
#define WEIR_COMMIT ""
#endif

const char *weir_commit(void) { return WEIR_COMMIT; }
