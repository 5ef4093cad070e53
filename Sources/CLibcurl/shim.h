#ifndef WEIR_CLIBCURL_SHIM_H
#define WEIR_CLIBCURL_SHIM_H

#include <dlfcn.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/select.h>
#include <curl/curl.h>
#include <openssl/crypto.h>

// Swift cannot call C's variadic functions. Each wrapper fixes the type of the variable argument for one kind of
// option, so that a value of another width cannot be passed.

// Swift does not import macros that name enumerators.
static const CURLversion weir_curl_version_now = CURLVERSION_NOW;

// Options of type CURLOPTTYPE_LONG and CURLOPTTYPE_VALUES.
static inline CURLcode weir_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// Options of type CURLOPTTYPE_OFF_T, 64 bits wide everywhere.
static inline CURLcode weir_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

// Options of type CURLOPTTYPE_STRINGPOINT; libcurl copies the text.
static inline CURLcode weir_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

// Contexts and lists of callbacks, and bodies to copy: libcurl takes these pointers unchanged.
static inline CURLcode weir_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION, which share a type.
static inline CURLcode weir_easy_set_write(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode weir_easy_set_opensocket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

// CURLOPT_DEBUGFUNCTION.
static inline CURLcode weir_easy_set_debug(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

// CURLOPT_PREREQFUNCTION.
static inline CURLcode weir_easy_set_prereq(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

// CURLOPT_SEEKFUNCTION.
static inline CURLcode weir_easy_set_seek(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

// CURLOPT_CLOSESOCKETFUNCTION.
static inline CURLcode weir_easy_set_closesocket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

// Information of type long.
static inline CURLcode weir_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

// Information of type text. libcurl owns the text; it is valid until the handle is used again.
static inline CURLcode weir_easy_get_text(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

// The number of decrypted bytes of the connection that nothing has read; 0 between transfers, and with another library than
// OpenSSL. libcurl has loaded the library, which is found by dlsym(RTLD_DEFAULT, ...), a null pointer.
static inline int weir_easy_pending_bytes_of_tls(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return 0;
    if (session->backend != CURLSSLBACKEND_OPENSSL || session->internals == NULL) return 0;
    int (*pending)(const void *) = (int (*)(const void *))dlsym(NULL, "SSL_pending");
    return pending == NULL ? 0 : pending(session->internals);
}

// Information of type curl_off_t, a 64-bit count.
static inline CURLcode weir_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

// Information of type list. The caller frees it.
static inline CURLcode weir_easy_get_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(easy, info, value);
}

// CURLSHOPT_SHARE.
static inline CURLSHcode weir_share_share(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

// <netinet/tcp.h> is not in Swift's Glibc module.
static const int weir_tcp_window_clamp = TCP_WINDOW_CLAMP;

// SO_BUF_LOCK of <asm/socket.h>, since Linux 5.16: distinguishes a buffer with a fixed size and one that the system
// adapts.
static const int weir_so_buf_lock = 72;

// SO_MEMINFO of <asm/socket.h>, since Linux 4.12: its value is an array of 32-bit numbers, of which the first is the memory of the bytes
// that nothing has read yet (SK_MEMINFO_RMEM_ALLOC of <linux/sock_diag.h>).
static const int weir_so_meminfo = 55;

// TCP_INFO of <netinet/tcp.h>, and the offset of the advertised window in its value (tcpi_rcv_wnd of <linux/tcp.h>, since Linux 6.2).
static const int weir_tcp_info = TCP_INFO;
static const int weir_tcp_info_window = 232;

// The result of a CURLOPT_WRITEFUNCTION that keeps the bytes for later. In some versions it is a macro with a cast.
static const size_t weir_writefunc_pause = CURL_WRITEFUNC_PAUSE;

// Options of the multi handle with numbers.
static inline CURLMcode weir_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Options of the multi handle with pointers: callback contexts.
static inline CURLMcode weir_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

// CURLMOPT_SOCKETFUNCTION.
static inline CURLMcode weir_multi_set_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

// CURLMOPT_TIMERFUNCTION.
static inline CURLMcode weir_multi_set_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

// CURL_GLOBAL_ALL is a macro made of other macros, which Swift does not import.
static inline CURLcode weir_global_init(void) {
    // libcurl's own call would let libcrypto free its tables at the exit, while threads still use them: see CLibcrypto.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return curl_global_init(CURL_GLOBAL_ALL);
}

#endif
