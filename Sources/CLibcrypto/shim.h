#ifndef WEIR_CLIBCRYPTO_SHIM_H
#define WEIR_CLIBCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>

// By default libcrypto frees its tables when the process exits, and a thread that still hashes then crashes. The first call of
// OPENSSL_init_crypto(3) in the process decides; libcurl makes one too, see CLibcurl.
static inline int weir_crypto_init(void) { return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

#endif
