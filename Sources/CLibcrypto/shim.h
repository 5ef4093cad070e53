#ifndef WEIR_CLIBCRYPTO_SHIM_H
#define WEIR_CLIBCRYPTO_SHIM_H

#include <openssl/evp.h>

#endif
