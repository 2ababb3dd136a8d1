#include "executors/internal/zmq_waker.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

void Add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    ThrowFileError("epoll", "can not watch a socket", errno);
  }
}

}  // namespace

ZmqWaker::ZmqWaker()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      nudge_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !nudge_) ThrowFileError("epoll", "can not be made", errno);
  Add(epoll_.get(), nudge_.get());
}

void ZmqWaker::Watch(const zmq::socket_t& socket) {
  Add(epoll_.get(), socket.get(zmq::sockopt::fd));
}

void ZmqWaker::Forget(const zmq::socket_t& socket) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(zmq::sockopt::fd), nullptr);
}

void ZmqWaker::NoteWaiting(const zmq::socket_t& socket) {
  if ((socket.get(zmq::sockopt::events) & ZMQ_POLLIN) == 0) return;
  const bool was_quiet = waiting_.empty();
  waiting_.insert(const_cast<void*>(socket.handle()));
  const uint64_t one = 1;
  if (was_quiet && write(nudge_.get(), &one, sizeof(one)) < 0) {
    ThrowFileError("eventfd", "can not be written", errno);
  }
}

void ZmqWaker::NoteDrained(const zmq::socket_t& socket) {
  if (waiting_.erase(const_cast<void*>(socket.handle())) == 0 || !waiting_.empty()) {
    return;
  }
  uint64_t count = 0;
  if (read(nudge_.get(), &count, sizeof(count)) < 0) {
    ThrowFileError("eventfd", "can not be read", errno);
  }
}

}  // namespace hyperopt::internal
