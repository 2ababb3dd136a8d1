// One descriptor to poll for several ZeroMQ sockets. ZeroMQ's own (ZMQ_FD) speaks of
// edges: a send may swallow the one that told of a frame, and a poll after it sleeps
// with the frame in hand. This one stays readable until the frames are taken.
#pragma once

#include <set>
#include <zmq.hpp>

#include "trial/fs.h"

namespace hyperopt::internal {

class ZmqWaker {
 public:
  ZmqWaker();

  int fd() const { return epoll_.get(); }
  void Watch(const zmq::socket_t& socket);
  void Forget(const zmq::socket_t& socket);

  // Makes fd() readable where frames wait in the socket. To be called before a poll.
  void NoteWaiting(const zmq::socket_t& socket);
  // To be called when a receive found nothing.
  void NoteDrained(const zmq::socket_t& socket);

 private:
  UniqueFd epoll_;
  UniqueFd nudge_;           // eventfd, readable while waiting_ is not empty
  std::set<void*> waiting_;  // sockets that NoteWaiting found full
};

}  // namespace hyperopt::internal
