// Parquet files through Arrow's reader: part of the module libingot_arrow.so.
#pragma once

#include "ingest/read/arrow_library.h"

namespace ingot::arrow_module {

// As ArrowLibrary::open_parquet().
std::unique_ptr<ParquetRows> open_parquet(const ParquetRequest& request,
                                          const RemoteSettings& remote);

}  // namespace ingot::arrow_module
