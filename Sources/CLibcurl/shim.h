#ifndef WEIR_CLIBCURL_SHIM_H
#define WEIR_CLIBCURL_SHIM_H

#include <sys/select.h>
#include <curl/curl.h>

#endif
