// The buffer between the thread that fetches a file and the thread that reads it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "remote/fetch.h"

namespace ingot {

// The base class synchronises; derived classes hold the bytes. The fetching thread calls begin(),
// the functions of FetchSink and finish(); the reading thread calls read() and close().
class Spool : public FetchSink {
 public:
  struct Start {
    int64_t offset = 0;  // bytes that are already there
    WebVersion version;
    bool is_whole = false;
  };
  virtual Start begin() = 0;
  // After the last byte, or with the failure.
  void finish(std::exception_ptr failure);

  // Waits for bytes; 0 at the end of the file. Rethrows the fetching thread's exception after all
  // earlier bytes were read.
  size_t read(char* into, size_t size);
  void close();  // releases the fetching thread: nobody will read
  // False if it takes longer than `timeout`; throws like read().
  bool wait_until_finished(std::chrono::milliseconds timeout);
  int64_t bytes();     // received so far
  std::string etag();  // of the version of these bytes; empty: unknown

 protected:
  // Called with the mutex held.
  virtual size_t available() const = 0;
  virtual size_t take(char* into, size_t size) = 0;  // from what is available
  // Called by finish() without the mutex; `whole`: without failure.
  virtual void end(bool whole) { (void)whole; }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int64_t given_ = 0;  // bytes that were read
  std::string etag_;

 private:
  bool finished_ = false;
  std::exception_ptr failure_;
};

std::unique_ptr<Spool> memory_spool();
std::unique_ptr<Spool> file_spool(const std::string& path, const WebFile& file);

}  // namespace ingot
