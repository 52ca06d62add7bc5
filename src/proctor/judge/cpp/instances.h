// What candidates instantiate most, once for all of them: the host has it, and they find it there.
//
// Read twice: behind the headers that parts begin with, as declarations of what is elsewhere, and
// for the host, as definitions. Names nothing that the headers before it do not name.
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
PROCTOR_INSTANCE bool std::operator==(const std::string &, const char *);
#if __cplusplus < 202002L
PROCTOR_INSTANCE bool std::operator!=(const std::string &, const char *);
#endif
#endif
#if defined(_GLIBCXX_VECTOR)
PROCTOR_INSTANCE class std::vector<int>;
PROCTOR_INSTANCE class std::vector<long>;
PROCTOR_INSTANCE class std::vector<float>;
PROCTOR_INSTANCE class std::vector<std::vector<int>>;
#if defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE class std::vector<std::string>;
#endif
#endif
#if defined(_GLIBCXX_MAP)
PROCTOR_INSTANCE class std::map<int, int>;
PROCTOR_INSTANCE class std::map<char, int>;
#if defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE class std::map<std::string, int>;
#endif
#endif
#if defined(_GLIBCXX_UNORDERED_MAP)
PROCTOR_INSTANCE class std::unordered_map<int, int>;
PROCTOR_INSTANCE class std::unordered_map<char, int>;
#endif
#if defined(_GLIBCXX_ALGORITHM) && defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE void std::sort(std::string::iterator, std::string::iterator);
PROCTOR_INSTANCE void std::reverse(std::string::iterator, std::string::iterator);
#endif
#if defined(_GLIBCXX_ALGORITHM) && defined(_GLIBCXX_VECTOR)
#define PROCTOR_INSTANCES(type)                                                                    \
    PROCTOR_INSTANCE void std::sort(std::vector<type>::iterator, std::vector<type>::iterator);     \
    PROCTOR_INSTANCE void std::reverse(std::vector<type>::iterator, std::vector<type>::iterator);  \
    PROCTOR_INSTANCE std::vector<type>::iterator std::find(                                        \
        std::vector<type>::iterator, std::vector<type>::iterator, const type &);                   \
    PROCTOR_INSTANCE std::vector<type>::iterator std::max_element(                                 \
        std::vector<type>::iterator, std::vector<type>::iterator);                                 \
    PROCTOR_INSTANCE std::vector<type>::iterator std::min_element(                                 \
        std::vector<type>::iterator, std::vector<type>::iterator);
PROCTOR_INSTANCES(int)
PROCTOR_INSTANCES(long)
PROCTOR_INSTANCES(float)
#if defined(_GLIBCXX_STRING)
PROCTOR_INSTANCE void std::sort(
    std::vector<std::string>::iterator, std::vector<std::string>::iterator);
#endif
#undef PROCTOR_INSTANCES
#endif
