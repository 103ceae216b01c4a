// The last line of a table of records. No #pragma once: it is included many times.
#undef PART
#undef KIND
#undef METRIC
#undef END
#undef FIELD
#undef DECLARED
