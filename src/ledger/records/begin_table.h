// The first line of a table of records. Before including a table, define the macros that you want;
// the table undefines them at its end. No #pragma once: it is included many times.
#ifndef PART
#define PART(Type, since, doc)
#endif
#ifndef KIND
#define KIND(Type, name, since, doc)
#endif
#ifndef METRIC
#define METRIC(type, name, since, unit, title, doc)
#endif
#ifndef END
#define END(Type)
#endif
#define FIELD(type, name, since, unit, doc) METRIC(type, name, since, unit, "", doc)
