// The templates that the host has for its parts.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#define PROCTOR_INSTANCE template
#include "instances.h"
