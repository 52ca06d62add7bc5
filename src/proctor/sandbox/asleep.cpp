// Puts a compiler to sleep that has read its headers, to be woken for every text.
//
// To start a compiler and have it read compiled headers takes longer than to compile most texts. So
// one that has done both writes itself down as a program, "proctor_compiler": that puts all which was
// in memory back to where it was, and goes on from there. A plugin; it sleeps where a text includes
// "proctor_sleep.h". Uses no headers, of GCC or others, which hosts may lack: where names are not what they
// are here it does not load, and where the rest is not, who wakes does not compile what is tried.

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
void register_callback(const char *, int, plugin_callback, void *);
int get_named_event_id(const char *, int);
int open(const char *, int, ...);
long read(int, void *, word);
long pread(int, void *, word, long);
long write(int, const void *, word);
long lseek(int, long, int);
int close(int);
int dup2(int, int);
int fileno(FILE *);
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
extern FILE *asm_out_file;
void initialize_rtl() __attribute__((weak));  // what else would be done for the first function

enum { READ = 1, WRITE = 2, EXECUTE = 4 };
enum { PRIVATE = 2, FIXED = 16, ANONYMOUS = 32, NORESERVE = 0x4000 };
enum { READING = 0, WRITING = 01101 };
enum { FROM_START, FROM_HERE };
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

// How the program begins: as all do, and with what it is put together from.
struct Head {
    unsigned char ident[16];
    unsigned short type, machine;
    unsigned version;
    word entry, loads_at, sections_at;
    unsigned flags;
    unsigned short size, load_size, loads_count, section_size, sections, names;
    Load loads[2];
    char self[16], name[24];
    word thread;
    void **context;
    word count;
    Piece pieces[1000];
    char paths[1 << 14];
    char code[1 << 12];
};

// Where the program is when it begins: above what programs are given by brk and below all the rest.
#define BASE 0x600000000000
#define STACK_END 0x600000040000
#define STACK_BYTES 0x10000
#define TEXT(number) #number
#define NUMBER(name) TEXT(name)
static_assert(sizeof(Head) < STACK_END - STACK_BYTES - BASE, "the stack lies behind the head");

// ---- Waking: all of this is copied to where nothing else is yet.

__asm__(".section waking, \"ax\", @progbits\n"
        ".hidden first\n"
        "first:\n"
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

enum { OPEN = 2, CLOSE = 3, FSTAT = 5, MMAP = 9, BRK = 12, EXIT = 60, UNLINK = 87, ARCH_PRCTL = 158 };
enum { SET_FS = 0x1002, FAILED = 99 };

static inline __attribute__((always_inline)) Stamp stamp_of(long file) {
    word told[18];
    ask(FSTAT, file, (word)told);
    return {told[6], told[11], told[12]};
}

extern "C" __attribute__((section("waking"), used, visibility("hidden"))) void wake(const Head *head) {
    const char *path = nullptr;
    long self = ask(OPEN, (word)head->self, READING), other = -1;
    ask(UNLINK, (word)head->name);  // no text finds it
    for (const Piece *piece = head->pieces; piece < head->pieces + head->count; piece++) {
        long file = self, how = PRIVATE | FIXED;
        if (piece->path == head->paths) {
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
    ask(ARCH_PRCTL, SET_FS, head->thread);
    __builtin_longjmp(head->context, 1);
}

// ---- Falling asleep.

extern "C" char __start_waking[], __stop_waking[], first[];
__asm__(".hidden __start_waking\n.hidden __stop_waking\n");

static const char NAME[] = "proctor_compiler";
static Head head;
static void *context[5];
static int output;
static bool awake;
static int file;
static word end, paths_end = 1;  // of what was written, and of the paths in the head

static void give_up(const char *why) {
    write(2, why, strlen(why));
    _exit(FAILED);
}

static void add(word from, word to, word rights, const char *path, word offset, Stamp stamp = {}) {
    if (head.count == sizeof head.pieces / sizeof *head.pieces) give_up("too many pieces\n");
    head.pieces[head.count++] = {from, to - from, rights, offset, path, stamp};
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
    add(from, to, rights, head.paths, 0);
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
    for (word at = 1; at < paths_end; at += strlen(head.paths + at) + 1)
        if (!strcmp(head.paths + at, path)) return head.paths + at;
    if (paths_end + strlen(path) + 1 > sizeof head.paths) give_up("too many files\n");
    char *mine = strcpy(head.paths + paths_end, path);
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
        add(to - room, page, rights, head.paths, 0);
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
    strcpy(head.name, NAME);
    __asm__("mov %%fs:0, %0" : "=r"(head.thread));
    head.context = context;
    for (Piece *piece = head.pieces; piece < head.pieces + head.count; piece++)
        if (piece->path) piece->path += BASE - (word)&head;
    memcpy(head.code, __start_waking, __stop_waking - __start_waking);
    lseek(file, 0, FROM_START);
    write_all(&head, sizeof head);
}

static void fall_asleep(void *name, void *) {
    if (awake || strcmp((const char *)name, "proctor_sleep.h")) return;
    if (initialize_rtl) initialize_rtl();
    output = fileno(asm_out_file);
    if (lseek(output, 0, FROM_HERE) != 0) give_up("it has written something already\n");
    if (__builtin_setjmp(context)) {
        int again = open("part.s", WRITING, 0644);
        if (again < 0) _exit(FAILED);
        if (again != output) dup2(again, output), close(again);
        if (&__curbrk) __curbrk = (void *)ask(BRK);  // is where the kernel says now
        awake = true;
        return;
    }
    if (__stop_waking - __start_waking > (long)sizeof head.code) give_up("too much code\n");
    file = open(NAME, WRITING, 0755);
    end = (sizeof head + PAGE - 1) / PAGE * PAGE;
    lseek(file, end, FROM_START);
    look_around();
    write_head();
    _exit(0);
}

extern "C" int plugin_init(plugin_name_args *, plugin_gcc_version *) {
    int including = get_named_event_id("PLUGIN_INCLUDE_FILE", 0);
    if (including < 0) return 1;
    register_callback("asleep", including, fall_asleep, nullptr);
    return 0;
}
