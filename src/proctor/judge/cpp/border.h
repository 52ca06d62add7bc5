// What a part (tests, or what calls a candidate) may ask of the host that loaded it.
//
// It includes nothing: a part sees the headers of its task and no others. Names are passed in a
// table, not exported, so that a candidate that shares the process does not find them by name.
struct proctor_border {
    void (*begin)();                                          // a new message
    void (*put)(const void *bytes, unsigned long size);       // more of it
    void (*call)();                                           // send it as a call, wait for a value
    int (*next)();                                            // wait for a call; 0: no more come
    void (*answer)();                                         // send it as the value of that call
    void (*take)(void *bytes, unsigned long size);            // read on in what came
    const char *(*text)(unsigned long size);                  // likewise, where it lies
    unsigned long (*left)();                                  // how much of it is left
    void (*end)();                                            // nothing may be left
    void (*result)(int passed, const char *what, int line);   // tell how the tests went
};
