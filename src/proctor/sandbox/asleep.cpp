// Puts a compiler to sleep that has read its headers, and its assembler and linker that have begun.
//
// To start a compiler and have it read compiled headers takes longer than to compile most texts; the
// other two also take as long to begin as for what they do. So each of them, when it has come to the
// point where it would read the text, writes itself down: all three as one program. Run with the
// number of one of them, that puts all which it had in memory back to where it was, and goes on.
//
// In a compiler it is a plugin, and sleeps where a text includes "proctor_sleep.h"; in the others it
// is loaded before all libraries, and sleeps where they open their text. Uses no headers, of GCC or
// others, which hosts may lack: where names are not what they are here it does not load, and where
// the rest is not, who wakes does not compile what is tried.

#ifndef __x86_64__
#error "how to wake is known for x86_64 alone"
#endif

typedef unsigned long word;
struct plugin_name_args;
struct plugin_gcc_version;
struct FILE;
typedef void (*plugin_callback)(void *, void *);

extern "C" {
int plugin_is_GPL_compatible;
void register_callback(const char *, int, plugin_callback, void *) __attribute__((weak));
int get_named_event_id(const char *, int) __attribute__((weak));
void *dlsym(void *, const char *);
int open(const char *, int, ...);
long read(int, void *, word);
long pread(int, void *, word, long);
long write(int, const void *, word);
long lseek(int, long, int);
int close(int);
int dup2(int, int);
int fcntl(int, int, ...);
long readlink(const char *, char *, word);
char *getcwd(char *, word);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, word);
word strlen(const char *);
char *strchr(const char *, int);
char *strstr(const char *, const char *);
char *strcpy(char *, const char *);
word strtoul(const char *, char **, int);
void *memcpy(void *, const void *, word);
int memcmp(const void *, const void *, word);
void _exit(int) __attribute__((noreturn));
extern void *__curbrk __attribute__((weak));  // how far the C library has asked for memory
}
void initialize_rtl() __attribute__((weak));  // what else would be done for the first function

enum { READ = 1, WRITE = 2, EXECUTE = 4 };
enum { PRIVATE = 2, FIXED = 16, ANONYMOUS = 32, NORESERVE = 0x4000 };
enum { READING = 0, BOTH = 2, ACCESS = 3, CREATE = 0100, EMPTY = 01000, GET_FLAGS = 3 };
enum { FROM_START, FROM_HERE, FROM_END };
enum { COMPILER, ASSEMBLER, LINKER, PROGRAMS };
static const word PAGE = 4096;
static const word NEAR = 8 * PAGE;
static const word ROOM = 4ul << 30;    // for the stack of who was asleep: more than it may have
static const word LEAST = 64ul << 20;  // as much as is usual

// What is not the same in a file that is no more what it was.
struct Stamp {
    word size, seconds, nanoseconds;
};

// A part of memory, and what it is of: a file with a path, this file if there is none, or no file.
struct Piece {
    word address, size, rights, offset;
    const char *path;
    Stamp stamp;
};

struct Load {
    unsigned type, flags;
    word offset, address, physical, in_file, in_memory, alignment;
};

// What one of them is put together from.
struct Sleeper {
    word thread;
    void **context;
    word count;
    Piece pieces[1000];
    char paths[1 << 14];
};

// How the program begins, as all do.
struct Head {
    unsigned char ident[16];
    unsigned short type, machine;
    unsigned version;
    word entry, loads_at, sections_at;
    unsigned flags;
    unsigned short size, load_size, loads_count, section_size, sections, names;
    Load loads[2];
    char self[16];
    char code[1 << 12];
    Sleeper sleepers[PROGRAMS];
};

// Where the program is when it begins: above what programs are given by brk and below all the rest.
#define BASE 0x600000000000
#define STACK_END 0x600000080000
#define STACK_BYTES 0x10000
#define TEXT(number) #number
#define NUMBER(name) TEXT(name)
static_assert(sizeof(Head) < STACK_END - STACK_BYTES - BASE, "the stack lies behind the head");

// ---- Waking: all of this is copied to where nothing else is yet.

__asm__(".section waking, \"ax\", @progbits\n"
        ".hidden first\n"
        "first:\n"
        "mov 16(%rsp), %rsi\n"
        "movabs $" NUMBER(STACK_END) ", %rsp\n"
        "movabs $" NUMBER(BASE) ", %rdi\n"
        "call wake\n"
        ".text\n");

static inline __attribute__((always_inline)) long ask(long number, word a = 0, word b = 0, word c = 0,
                                                      word d = 0, word e = 0, word f = 0) {
    register word fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return number;
}

enum { OPEN = 2, CLOSE = 3, FSTAT = 5, MMAP = 9, BRK = 12, EXIT = 60, ARCH_PRCTL = 158 };
enum { SET_FS = 0x1002, FAILED = 99 };

static inline __attribute__((always_inline)) Stamp stamp_of(long file) {
    word told[18];
    ask(FSTAT, file, (word)told);
    return {told[6], told[11], told[12]};
}

// The first argument says which one.
extern "C" __attribute__((section("waking"), used, visibility("hidden"))) void wake(
    const Head *head, const char *argument) {
    const Sleeper *one = &head->sleepers[(*argument - '0') % PROGRAMS];
    const char *path = nullptr;
    long self = ask(OPEN, (word)head->self, READING), other = -1;
    for (const Piece *piece = one->pieces; piece < one->pieces + one->count; piece++) {
        long file = self, how = PRIVATE | FIXED;
        if (piece->path == one->paths) {
            file = -1, how |= ANONYMOUS | NORESERVE;
        } else if (piece->path) {
            if (piece->path != path) {
                if (path) ask(CLOSE, other);
                path = piece->path, other = ask(OPEN, (word)path, READING);
                Stamp now = stamp_of(other), then = piece->stamp;
                if (now.size != then.size || now.seconds != then.seconds ||
                    now.nanoseconds != then.nanoseconds)
                    ask(EXIT, FAILED);
            }
            file = other;
        }
        long at = ask(MMAP, piece->address, piece->size, piece->rights, how, file, piece->offset);
        if (at != (long)piece->address) ask(EXIT, FAILED);
    }
    if (path) ask(CLOSE, other);
    ask(CLOSE, self);
    if (!one->count) ask(EXIT, FAILED);
    ask(ARCH_PRCTL, SET_FS, one->thread);
    __builtin_longjmp(one->context, 1);
}

// ---- Writing down.

extern "C" char __start_waking[], __stop_waking[], first[];
__asm__(".hidden __start_waking\n.hidden __stop_waking\n");

static Head head;
static Sleeper sleeper;
static void *context[5];
static bool awake;
static int file;
static word end, paths_end = 1;  // of what was written, and of the paths

static void give_up(const char *why) {
    write(2, why, strlen(why));
    _exit(FAILED);
}

static void add(word from, word to, word rights, const char *path, word offset, Stamp stamp = {}) {
    if (sleeper.count == sizeof sleeper.pieces / sizeof *sleeper.pieces) give_up("too many pieces\n");
    sleeper.pieces[sleeper.count++] = {from, to - from, rights, offset, path, stamp};
}

static void write_all(const void *from, word size) {
    const char *at = (const char *)from;
    for (long written; size; at += written, size -= written)
        if ((written = write(file, at, size)) <= 0) give_up("it cannot be written\n");
}

static bool empty(word page) {
    static const char zeros[PAGE] = {};
    return memcmp((void *)page, zeros, PAGE) == 0;
}

// Writes a part of memory down, but for pages without anything, unless they are few among others.
static void keep(word from, word to, word rights) {
    add(from, to, rights, sleeper.paths, 0);
    while (from < to) {
        word behind = from;
        for (word page = from; page < to && page < behind + NEAR; page += PAGE)
            if (!empty(page)) behind = page + PAGE;
        if (behind > from) {
            add(from, behind, rights, nullptr, end);
            write_all((void *)from, behind - from);
            end += behind - from;
        }
        from = behind > from ? behind : from + PAGE;
    }
}

static const char *known(const char *path) {
    for (word at = 1; at < paths_end; at += strlen(sleeper.paths + at) + 1)
        if (!strcmp(sleeper.paths + at, path)) return sleeper.paths + at;
    if (paths_end + strlen(path) + 1 > sizeof sleeper.paths) give_up("too many files\n");
    char *mine = strcpy(sleeper.paths + paths_end, path);
    paths_end += strlen(path) + 1;
    return mine;
}

static bool as_in_file(int opened, word from, word to, word offset) {
    static char there[1 << 16];
    bool same = true;
    for (long size = 0; same && from < to; from += size, offset += size) {
        size = pread(opened, there, to - from < sizeof there ? to - from : sizeof there, offset);
        same = size > 0 && memcmp(there, (void *)from, size) == 0;
        if (size % PAGE) size += PAGE - size % PAGE;  // a file may end within a page
    }
    return same;
}

// What has no path is nobody else's; what is in this folder, or in none, will be gone.
static bool stays(const char *path, const char *folder) {
    return path && !strstr(path, " (deleted)") && strncmp(path, folder, strlen(folder));
}

// Adds what is in memory as it is in a file that stays: what is run, and what was not changed.
static bool is_of_file(const char *path, word from, word to, word rights, word offset) {
    int opened = rights & WRITE ? -1 : open(path, READING);
    if (opened < 0) return false;
    bool same = rights & EXECUTE || as_in_file(opened, from, to, offset);
    if (same) add(from, to, rights, known(path), offset, stamp_of(opened));
    close(opened);
    return same;
}

// A line: 7f3c5a000000-7f3c5a021000 rw-p 00000000 00:00 0   /path
static void look_at(const char *line, const char *folder) {
    static word before;  // where the last mapping ended
    char *at;
    word from = strtoul(line, &at, 16), to = strtoul(at + 1, &at, 16);
    const char *letters = at + 1, *path = strchr(line, '/');
    word offset = strtoul(letters + 5, &at, 16), rights = 0;
    for (int i = 0; i < 3; i++) rights |= letters[i] == "rwx"[i] ? 1 << i : 0;
    if (strstr(line, "[stack]")) {
        word page = (word)__builtin_frame_address(0) / PAGE * PAGE - PAGE;
        word room = to - before - NEAR < ROOM ? to - before - NEAR : ROOM;
        if (room < LEAST) give_up("there is no room for its stack\n");
        add(to - room, page, rights, sleeper.paths, 0);
        keep(page, to, rights);
    } else if (rights & READ && !strstr(line, "[v")) {  // or the kernel's own: [vdso], [vvar]
        bool files = stays(path, folder) && is_of_file(path, from, to, rights, offset);
        if (!files) keep(from, to, rights);
    }
    before = to;
}

static void look_around() {
    static char maps[1 << 17], folder[1 << 12];
    long size = 0;
    int opened = open("/proc/self/maps", READING);
    for (long said; (said = read(opened, maps + size, sizeof maps - 1 - size)) > 0;) size += said;
    if (!getcwd(folder, sizeof folder) || size == 0 || size == sizeof maps - 1) give_up("too much\n");
    close(opened);
    for (char *line = maps, *next; *line; line = next) {
        next = strchr(line, '\n');
        *next++ = 0;
        look_at(line, folder);
    }
}

static void write_head() {
    static const unsigned char ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    memcpy(head.ident, ident, sizeof ident);
    head.type = 2, head.machine = 62, head.version = 1;
    head.entry = BASE + __builtin_offsetof(Head, code) + (first - __start_waking);
    head.loads_at = __builtin_offsetof(Head, loads);
    head.size = __builtin_offsetof(Head, loads), head.load_size = sizeof(Load), head.loads_count = 2;
    word stack = STACK_END - STACK_BYTES;
    head.loads[0] = {1, 4 | 1, 0, BASE, BASE, sizeof head, sizeof head, PAGE};
    head.loads[1] = {1, 4 | 2, 0, stack, stack, 0, STACK_BYTES, PAGE};
    strcpy(head.self, "/proc/self/exe");
    if (__stop_waking - __start_waking > (long)sizeof head.code) give_up("too much code\n");
    memcpy(head.code, __start_waking, __stop_waking - __start_waking);
    lseek(file, 0, FROM_START);
    write_all(&head, __builtin_offsetof(Head, sleepers));
}

static void write_sleeper(int which) {
    word at = __builtin_offsetof(Head, sleepers) + which * sizeof sleeper;
    __asm__("mov %%fs:0, %0" : "=r"(sleeper.thread));
    sleeper.context = context;
    for (Piece *piece = sleeper.pieces; piece < sleeper.pieces + sleeper.count; piece++)
        if (piece->path) piece->path += BASE + at - (word)&sleeper;
    lseek(file, at, FROM_START);
    write_all(&sleeper, sizeof sleeper);
}

// ---- Falling asleep.

// What it has opened: what it writes is empty yet, what it reads is where it stays.
struct Opened {
    int flags;
    long position;
    char path[256];
};
static Opened opened[64];

static void note_opened() {
    for (int at = 3; at < 64; at++) {
        char name[] = "/proc/self/fd/00", *digits = name + 14;
        if (at > 9) *digits++ = '0' + at / 10;
        digits[0] = '0' + at % 10, digits[1] = 0;
        Opened *one = &opened[at];
        one->position = lseek(at, 0, FROM_HERE), one->flags = fcntl(at, GET_FLAGS);
        long size = one->position < 0 ? 0 : readlink(name, one->path, sizeof one->path);
        if (size == sizeof one->path) give_up("a file has a long name\n");
        if (size > 0 && one->flags & ACCESS && lseek(at, 0, FROM_END)) give_up("it has written\n");
    }
}

static void open_again() {
    for (int at = 3; at < 64; at++) {
        Opened *one = &opened[at];
        if (!one->path[0]) continue;
        int fresh = one->flags & ACCESS ? CREATE | EMPTY : 0;
        int again = open(one->path, (one->flags & ACCESS) | fresh, 0644);
        if (again < 0 || lseek(again, one->position, FROM_START) < 0) _exit(FAILED);
        if (again != at) dup2(again, at), close(again);
    }
}

static void fall_asleep(int which) {
    note_opened();
    if (__builtin_setjmp(context)) {
        if (&__curbrk) __curbrk = (void *)ask(BRK);  // is where the kernel says now
        awake = true;
        open_again();
        return;
    }
    file = open("proctor_compiler", BOTH | CREATE, 0755);
    end = lseek(file, 0, FROM_END);
    if (end < sizeof head) end = sizeof head;
    end = (end + PAGE - 1) / PAGE * PAGE;
    lseek(file, end, FROM_START);
    look_around();
    write_head();
    write_sleeper(which);
    _exit(0);
}

static void included(void *name, void *) {
    if (awake || strcmp((const char *)name, "proctor_sleep.h")) return;
    if (initialize_rtl) initialize_rtl();
    fall_asleep(COMPILER);
}

extern "C" FILE *fopen64(const char *path, const char *mode) {
    static FILE *(*open_file)(const char *, const char *);
    if (!open_file) open_file = (FILE * (*)(const char *, const char *)) dlsym((void *)-1l, "fopen64");
    bool reads = !awake && *mode == 'r';
    if (reads && !strcmp(path, "part.s")) fall_asleep(ASSEMBLER);
    if (reads && !strcmp(path, "part.o")) fall_asleep(LINKER);
    return open_file(path, mode);
}

extern "C" FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }

extern "C" int plugin_init(plugin_name_args *, plugin_gcc_version *) {
    int including = get_named_event_id("PLUGIN_INCLUDE_FILE", 0);
    if (including < 0) return 1;
    register_callback("asleep", including, included, nullptr);
    return 0;
}
