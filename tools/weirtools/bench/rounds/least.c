// The least work that does what a cell of tools/bench instructions does.
//
//     least serve FOLDER            serves its files on a free port, which it prints: each is opened, checked, sent and closed
//     least fetch URL COUNT FOLDER  fetches URL0.ts, URL1.ts, … one after the other, hashes each and writes it to a file of its own
//     least relay URL COUNT         fetches URL so often, each time to the standard output

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int holds, const char *step) {
    if (holds) return;
    perror(step);
    exit(70);
}

// Sends the file that a request names. False if the client is gone.
static int answer(int client, int folder) {
    char request[8192], head[256], path[256];
    size_t length = 0;
    do {
        ssize_t count = recv(client, request + length, sizeof request - 1 - length, 0);
        if (count <= 0) return 0;
        length += count;
        request[length] = 0;
    } while (!strstr(request, "\r\n\r\n"));
    check(sscanf(request, "GET /%255s ", path) == 1, "request");
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    check(file >= 0, path);
    struct stat status;
    check(fstat(file, &status) == 0, "fstat");
    int size = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nContent-Length: %ld\r\n\r\n", status.st_size);
    check(send(client, head, size, MSG_MORE) == size, "send");
    for (off_t offset = 0; offset < status.st_size;) check(sendfile(client, file, &offset, status.st_size - offset) > 0, "sendfile");
    close(file);
    return 1;
}

static void serve(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY), listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    check(folder >= 0, path);
    check(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
    printf("listening on http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int client = accept(listener, NULL, NULL);
        check(client >= 0, "accept");
        while (answer(client, folder)) {}
        close(client);
    }
}

struct target {
    int file;
    EVP_MD_CTX *digest;
};

static size_t take(char *bytes, size_t unit, size_t count, void *opaque) {
    struct target *target = opaque;
    if (target->digest) EVP_DigestUpdate(target->digest, bytes, count);
    return write(target->file, bytes, count);
}

static void fetch(CURL *curl, const char *url, struct target *target) {
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, target);
    check(curl_easy_perform(curl) == CURLE_OK, url);
}

static int keep(const char *prefix, int count, const char *path) {
    CURL *curl = curl_easy_init();
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    check(folder >= 0, path);
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    for (int number = 0; number < count; number++) {
        char url[1024], name[32];
        unsigned char hash[EVP_MAX_MD_SIZE];
        snprintf(url, sizeof url, "%s%d.ts", prefix, number);
        snprintf(name, sizeof name, "%d.ts", number);
        struct target target = {openat(folder, "part", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), digest};
        check(target.file >= 0, "part");
        EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
        fetch(curl, url, &target);
        EVP_DigestFinal_ex(digest, hash, NULL);
        check(close(target.file) == 0 && renameat(folder, "part", folder, name) == 0, name);
    }
    return 0;
}

static int relay(const char *url, int count) {
    CURL *curl = curl_easy_init();
    struct target target = {STDOUT_FILENO, NULL};
    while (count-- > 0) fetch(curl, url, &target);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "serve")) serve(arguments[2]);
    if (count == 5 && !strcmp(arguments[1], "fetch")) return keep(arguments[2], atoi(arguments[3]), arguments[4]);
    if (count == 4 && !strcmp(arguments[1], "relay")) return relay(arguments[2], atoi(arguments[3]));
    return 64;
}
