#include "ingest/read/arrow/parquet_rows.h"
#include "ingest/read/arrow/s3_files.h"

namespace ingot::arrow_module {
namespace {

class Library final : public ArrowLibrary {
 public:
  std::unique_ptr<ParquetRows> open_parquet(const ParquetRequest& request,
                                            const RemoteSettings& remote) override {
    return arrow_module::open_parquet(request, remote);
  }
  std::unique_ptr<ByteStream> open_s3(const std::string& address,
                                      const RemoteSettings& remote) override {
    return arrow_module::open_s3(address, remote);
  }
  std::string s3_version(const std::string& address, const RemoteSettings& remote) override {
    return arrow_module::s3_version(address, remote);
  }
  std::vector<InputFile> list_s3(const std::string& address,
                                 const RemoteSettings& remote) override {
    return arrow_module::list_s3(address, remote);
  }
};

}  // namespace
}  // namespace ingot::arrow_module

extern "C" ingot::ArrowLibrary* ingot_arrow_library() {
  static ingot::arrow_module::Library library;
  return &library;
}
