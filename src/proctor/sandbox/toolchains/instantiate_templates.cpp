// Instantiates what headers use before they are written down compiled, not once more in every text.
//
// A compiler puts off the templates that headers themselves make use of until the end of a text: so
// late that compiled headers lack them, and every text pays for them, most of its time. Asked for by
// "#pragma proctor instantiate" as the last line of headers. Uses no headers of GCC, which most hosts lack:
// these names have been the same in all versions since 4.8, and where they are not it does not load.

struct cpp_reader;
struct plugin_name_args;
struct plugin_gcc_version;
typedef void (*plugin_callback)(void *, void *);

extern "C" void register_callback(const char *, int, plugin_callback, void *);
extern "C" int get_named_event_id(const char *, int);
void c_register_pragma(const char *, const char *, void (*)(cpp_reader *));
void instantiate_pending_templates(int);

extern "C" {
int plugin_is_GPL_compatible;
}

static void instantiate(cpp_reader *) { instantiate_pending_templates(0); }

static void offer(void *, void *) { c_register_pragma("proctor", "instantiate", instantiate); }

extern "C" int plugin_init(plugin_name_args *, plugin_gcc_version *) {
    int pragmas = get_named_event_id("PLUGIN_PRAGMAS", 0);
    if (pragmas < 0) return 1;
    register_callback("instantiate", pragmas, offer, nullptr);
    return 0;
}
