// From here to settings/end.h the rows of a table (*.def) are nothing: what else the table lists
// counts. No #pragma once: it is included many times.
#define FLAG(...)
#define INTEGER(...)
#define NUMBER(...)
#define TEXT(...)
#define LIST(...)
#define ENUM(...)
