// Ends the section begun by settings/fields.h or settings/rows.h.
#undef FLAG
#undef INTEGER
#undef NUMBER
#undef TEXT
#undef LIST
#undef ENUM
#undef INGOT_ROW
