// What candidates instantiate most, once for all of them: the host has it, and they find it there.
//
// Read twice: behind the headers that parts begin with, as declarations of what is elsewhere, and
// for the host, as definitions. Names nothing that the headers before it do not name. Only functions
// that do some work are here: to call another object takes longer than to call one's own, and what
// only reads a member would take twice as long.
#if defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE std::string std::operator+(const std::string &, const std::string &);
PROCTOR_INSTANCE std::string std::operator+(const std::string &, const char *);
PROCTOR_INSTANCE std::string std::operator+(const std::string &, char);
PROCTOR_INSTANCE std::string std::operator+(const char *, const std::string &);
PROCTOR_INSTANCE std::string std::operator+(char, const std::string &);
PROCTOR_INSTANCE std::string std::operator+(std::string &&, std::string &&);
PROCTOR_INSTANCE std::string std::operator+(std::string &&, const std::string &);
PROCTOR_INSTANCE std::string std::operator+(std::string &&, const char *);
PROCTOR_INSTANCE std::string std::operator+(std::string &&, char);
PROCTOR_INSTANCE std::string std::operator+(const std::string &, std::string &&);
PROCTOR_INSTANCE std::string std::operator+(const char *, std::string &&);
#endif
#if defined(_GLIBCXX_VECTOR)
#define PROCTOR_VECTOR(...)                                                                        \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::vector(const std::vector<__VA_ARGS__> &);           \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::vector(                                             \
        std::vector<__VA_ARGS__>::size_type, const std::allocator<__VA_ARGS__> &);                 \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::vector(std::vector<__VA_ARGS__>::size_type,         \
        const __VA_ARGS__ &, const std::allocator<__VA_ARGS__> &);                                 \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::vector(                                             \
        std::initializer_list<__VA_ARGS__>, const std::allocator<__VA_ARGS__> &);                  \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::~vector();                                          \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__> &std::vector<__VA_ARGS__>::operator=(                \
        const std::vector<__VA_ARGS__> &);                                                         \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__> &std::vector<__VA_ARGS__>::operator=(                \
        std::vector<__VA_ARGS__> &&);                                                              \
    PROCTOR_INSTANCE void std::vector<__VA_ARGS__>::push_back(const __VA_ARGS__ &);                \
    PROCTOR_INSTANCE void std::vector<__VA_ARGS__>::push_back(__VA_ARGS__ &&);                     \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::iterator std::vector<__VA_ARGS__>::insert(          \
        std::vector<__VA_ARGS__>::const_iterator, const __VA_ARGS__ &);                            \
    PROCTOR_INSTANCE std::vector<__VA_ARGS__>::iterator std::vector<__VA_ARGS__>::erase(           \
        std::vector<__VA_ARGS__>::const_iterator);                                                 \
    PROCTOR_INSTANCE void std::vector<__VA_ARGS__>::resize(std::vector<__VA_ARGS__>::size_type);   \
    PROCTOR_INSTANCE void std::vector<__VA_ARGS__>::reserve(std::vector<__VA_ARGS__>::size_type);
PROCTOR_VECTOR(int)
PROCTOR_VECTOR(long)
PROCTOR_VECTOR(float)
PROCTOR_VECTOR(std::vector<int>)
#if defined(_GLIBCXX_STRING)
PROCTOR_VECTOR(std::string)
#endif
#undef PROCTOR_VECTOR
#endif
#define PROCTOR_MAP(map, key)                                                                      \
    PROCTOR_INSTANCE int &std::map<key, int>::operator[](const key &);                             \
    PROCTOR_INSTANCE int &std::map<key, int>::operator[](key &&);                                  \
    PROCTOR_INSTANCE std::map<key, int>::iterator std::map<key, int>::find(const key &);           \
    PROCTOR_INSTANCE std::map<key, int>::size_type std::map<key, int>::count(const key &) const;   \
    PROCTOR_INSTANCE std::map<key, int>::size_type std::map<key, int>::erase(const key &);
#if defined(_GLIBCXX_MAP)
PROCTOR_MAP(map, int)
PROCTOR_MAP(map, char)
#if defined(_GLIBCXX_STRING)
PROCTOR_MAP(map, std::string)
#endif
#endif
#if defined(_GLIBCXX_UNORDERED_MAP)
PROCTOR_MAP(unordered_map, int)
PROCTOR_MAP(unordered_map, char)
#if defined(_GLIBCXX_STRING)
PROCTOR_MAP(unordered_map, std::string)
#endif
#endif
#undef PROCTOR_MAP
#if defined(_GLIBCXX_ALGORITHM) && defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE void std::sort(std::string::iterator, std::string::iterator);
PROCTOR_INSTANCE void std::reverse(std::string::iterator, std::string::iterator);
#endif
#if defined(_GLIBCXX_ALGORITHM) && defined(_GLIBCXX_VECTOR)
#define PROCTOR_ALGORITHMS(type)                                                                   \
    PROCTOR_INSTANCE void std::sort(std::vector<type>::iterator, std::vector<type>::iterator);     \
    PROCTOR_INSTANCE void std::reverse(std::vector<type>::iterator, std::vector<type>::iterator);  \
    PROCTOR_INSTANCE std::vector<type>::iterator std::find(                                        \
        std::vector<type>::iterator, std::vector<type>::iterator, const type &);                   \
    PROCTOR_INSTANCE std::vector<type>::iterator std::max_element(                                 \
        std::vector<type>::iterator, std::vector<type>::iterator);                                 \
    PROCTOR_INSTANCE std::vector<type>::iterator std::min_element(                                 \
        std::vector<type>::iterator, std::vector<type>::iterator);
PROCTOR_ALGORITHMS(int)
PROCTOR_ALGORITHMS(long)
PROCTOR_ALGORITHMS(float)
#if defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE void std::sort(
    std::vector<std::string>::iterator, std::vector<std::string>::iterator);
#endif
#undef PROCTOR_ALGORITHMS
#endif
