// Ends what settings/fields.h or settings/rows.h began.
#undef FLAG
#undef INTEGER
#undef NUMBER
#undef TEXT
#undef LIST
#undef ENUM
#undef INGOT_ROW
