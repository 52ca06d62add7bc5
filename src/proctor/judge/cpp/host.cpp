// The program that runs parts: `host PART...` loads them in order and starts the last one.
//
// Messages cross descriptor 3, framed as everywhere (sandbox/inside/protocol/frames.py): length, kind,
// number, payload. The first that comes is START with a token; it is read before any part is
// loaded, and whoever tells a result has to send it along. What comes over the border is hostile:
// nothing is read that is not there, and no count is believed that what is left could not hold.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "border.h"

namespace {

enum Kind { START = 1, CALL = 2, END = 4, VALUE = 12, LARGE = 15, UNLINKED = 17, RESULT = 22, BROKEN = 24 };
enum Left { GONE = 0, CANNOT = 4 };

const int BORDER = 3;
const unsigned long MOST = 16ul << 20, HEAD = 9, TOKEN = 32;

struct Message {
    char *bytes = nullptr;
    unsigned long size = 0, room = 0, at = 0;
    bool too_large = false;

    void grow(unsigned long size_) {
        if (size_ <= room) return;
        room = size_ > 2 * room ? size_ : 2 * room;
        bytes = static_cast<char *>(realloc(bytes, room));
        if (bytes == nullptr) abort();
    }
};

Message coming, going;
unsigned number = 0;
char token[TOKEN];

void read_all(char *to, unsigned long size) {
    while (size > 0) {
        long some = read(BORDER, to, size);
        if (some <= 0) _exit(GONE);
        to += some;
        size -= static_cast<unsigned long>(some);
    }
}

void write_all(const char *from, unsigned long size) {
    while (size > 0) {
        long some = write(BORDER, from, size);
        if (some <= 0) _exit(GONE);
        from += some;
        size -= static_cast<unsigned long>(some);
    }
}

void send(int kind, const char *bytes, unsigned long size) {
    char head[HEAD];
    unsigned length = static_cast<unsigned>(size);
    memcpy(head, &length, 4);
    head[4] = static_cast<char>(kind);
    memcpy(head + 5, &number, 4);
    write_all(head, HEAD);
    write_all(bytes, size);
}

int receive() {
    char head[HEAD];
    unsigned length;
    read_all(head, HEAD);
    memcpy(&length, head, 4);
    memcpy(&number, head + 5, 4);
    if (length > MOST) _exit(GONE);
    coming.grow(length);
    read_all(coming.bytes, length);
    coming.size = length;
    coming.at = 0;
    return head[4];
}

[[noreturn]] void broken(const char *why) {
    send(BROKEN, why, strlen(why));
    _exit(CANNOT);
}

void begin() {
    going.size = 0;
    going.too_large = false;
}

void put(const void *bytes, unsigned long size) {
    if (going.too_large || size > MOST - going.size) {
        going.too_large = true;
        return;
    }
    going.grow(going.size + size);
    if (size > 0) memcpy(going.bytes + going.size, bytes, size);
    going.size += size;
}

void send_message(int kind) {
    if (!going.too_large) return send(kind, going.bytes, going.size);
    send(LARGE, "", 0);
}

void call() {
    unsigned mine = ++number;
    send_message(CALL);
    if (receive() != VALUE || number != mine) _exit(GONE);
}

int next() { return receive() == CALL; }

void answer() { send_message(VALUE); }

unsigned long left() { return coming.size - coming.at; }

const char *text(unsigned long size) {
    if (size > left()) broken("a value that ends too early");
    coming.at += size;
    return coming.bytes + coming.at - size;
}

void take(void *bytes, unsigned long size) { memcpy(bytes, text(size), size); }

void end() {
    if (left() > 0) broken("more than a value");
}

void result(int passed, const char *what, int line) {
    begin();
    put(token, TOKEN);
    char said = passed ? 'y' : 'n';
    put(&said, 1);
    put(&line, 4);
    unsigned long length = strlen(what);
    put(what, length < 1024 ? length : 1024);
    send(RESULT, going.bytes, going.size);
    if (!passed) _exit(CANNOT);
}

const proctor_border border = {begin, put, call, next, answer, take, text, left, end, result};

void start(int parts, char **names) {
    void *part = nullptr;
    for (int i = 0; i < parts; ++i) {
        part = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
        if (part != nullptr) continue;
        const char *why = dlerror();
        send(UNLINKED, why, strlen(why));
        _exit(CANNOT);
    }
    auto begun = reinterpret_cast<int (*)(const proctor_border *)>(dlsym(part, "proctor_start"));
    if (begun == nullptr) _exit(CANNOT);
    int status = begun(&border);
    if (status != 0) exit(status);
}

}  // namespace

int main(int count, char **arguments) {
    if (receive() != START || coming.size != TOKEN) return CANNOT;
    memcpy(token, coming.bytes, TOKEN);
    memset(coming.bytes, 0, TOKEN);
    start(count - 1, arguments + 1);
    return 0;
}
