#include "executors/transport.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>
#include <thread>

#include "executors/internal/transport_fixture.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

TEST_SUITE("transport") {
  TEST_CASE("frames cross on ipc in order, both ways, and a peer keeps its name") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK(server->tcp_endpoint().empty());
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    for (int i = 0; i < 5000; ++i) client->Send(std::to_string(i));
    Peer peer;
    for (int i = 0; i < 5000; ++i) {
      const Frame frame = NextFrame(*server);
      REQUIRE(frame.bytes == std::to_string(i));
      if (i > 0) REQUIRE(frame.peer == peer);
      peer = frame.peer;
    }
    for (int i = 0; i < 500; ++i) {
      REQUIRE(server->SendToExecutor(peer, std::to_string(i)));
    }
    for (int i = 0; i < 500; ++i) REQUIRE(NextFrame(*client) == std::to_string(i));
  }

  TEST_CASE("every byte and every size arrives as it was sent") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    std::string all;
    for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
    for (const std::string& bytes :
         {std::string(), all, std::string(1, '\0'), std::string(8 << 20, 'x')}) {
      client->Send(bytes);
      const Frame frame = NextFrame(*server);
      CHECK((frame.bytes == bytes));
      CHECK(server->SendToExecutor(frame.peer, bytes));
      CHECK((NextFrame(*client) == bytes));
    }
  }

  TEST_CASE("a frame over 64 MiB never arrives") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    CheckTalks(*server, *client);
    client->Send(std::string((64 << 20) + 1, 'x'));
    // The connection is closed over it and made again; what comes then is the next.
    std::optional<Frame> frame;
    REQUIRE(WaitFor(*server, [&] {
      client->Send("after");
      return (frame = server->ReceiveFromExecutor()).has_value();
    }));
    CHECK(frame->bytes == "after");
  }

  TEST_CASE("a send to a peer that is not there says so") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK_FALSE(server->SendToExecutor("nobody", "work"));
    CHECK_FALSE(server->SendReply("nobody", "work"));
    Peer peer;
    {
      const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
      client->Send("hello");
      peer = NextFrame(*server).peer;
      CHECK(server->SendToExecutor(peer, "work"));
    }
    CHECK(WaitFor(*server, [&] {
      server->ReceiveFromExecutor();
      return !server->SendToExecutor(peer, "work");
    }));
  }

  TEST_CASE("a send past the high-water mark says so and does not block") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    // A peer that never reads: the socket of a client that stands still would do, a
    // plain one that speaks ZeroMQ's greeting is out of reach, so: many big frames.
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    client->Send("hello");
    const Peer peer = NextFrame(*server).peer;
    const std::string big(1 << 20, 'x');
    int sent = 0;
    // The client's thread reads on, its loop does not; the frames it holds are bounded
    // by what is sent here.
    while (sent < 100 && server->SendToExecutor(peer, big)) ++sent;
    CHECK(sent > 0);
    for (int i = 0; i < sent; ++i) CHECK(NextFrame(*client).size() == big.size());
  }

  TEST_CASE("what is sent before there is a server arrives once there is one") {
    const TempFolder folder;
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    client->Send("hello");
    client->Send("again");
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK(NextFrame(*server).bytes == "hello");
    CHECK(NextFrame(*server).bytes == "again");
  }

  TEST_CASE("a client finds a server that comes back under the same path") {
    const TempFolder folder;
    auto server = OpenServer({folder.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    CheckTalks(*server, *client);
    for (int round = 0; round < 3; ++round) {
      server.reset();
      server = OpenServer({folder.path(), {}, {}});
      std::optional<Frame> frame;
      REQUIRE(WaitFor(*server, [&] {
        client->Send("back");  // sends to a dead server get lost
        return (frame = server->ReceiveFromExecutor()).has_value();
      }));
      CHECK(frame->bytes == "back");
      CHECK(server->SendToExecutor(frame->peer, "welcome"));
      CHECK(NextFrame(*client) == "welcome");
    }
  }

  TEST_CASE("Reconnect leads to another server") {
    const TempFolder first;
    const TempFolder second;
    const auto server = OpenServer({first.path(), {}, {}});
    const auto other = OpenServer({second.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(first.path()), {});
    CheckTalks(*server, *client);
    client->Reconnect(ExecutorsEndpoint(second.path()));
    CheckTalks(*other, *client);
    CHECK_FALSE(server->ReceiveFromExecutor());
    CHECK_THROWS_AS(client->Reconnect("nonsense"), ConfigError);
  }

  TEST_CASE("the last heartbeat is repeated while the loop stands still") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    client->SetHeartbeatInterval(0.02);
    client->Send("hello");
    CHECK(NextFrame(*server).bytes == "hello");
    client->SendHeartbeat("beat 1");
    for (int i = 0; i < 4; ++i) CHECK(NextFrame(*server).bytes == "beat 1");
    client->SendHeartbeat("beat 2");
    while (NextFrame(*server).bytes != "beat 2") {
    }
    for (int i = 0; i < 3; ++i) CHECK(NextFrame(*server).bytes == "beat 2");
  }

  TEST_CASE("heartbeats do not pile up while there is no server") {
    const TempFolder folder;
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    client->SetHeartbeatInterval(3600);
    client->Send("hello");
    for (int i = 0; i < 100; ++i) client->SendHeartbeat(fmt::format("beat {}", i));
    client->Send("end");
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK(NextFrame(*server).bytes == "hello");
    CHECK(NextFrame(*server).bytes == "beat 99");
    CHECK(NextFrame(*server).bytes == "end");
  }

  TEST_CASE("two executors have two names") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    const auto a = OpenClient(ExecutorsEndpoint(folder.path()), {});
    const auto b = OpenClient(ExecutorsEndpoint(folder.path()), {});
    a->Send("a");
    const Frame from_a = NextFrame(*server);
    b->Send("b");
    const Frame from_b = NextFrame(*server);
    CHECK(from_a.peer != from_b.peer);
    CHECK(server->SendToExecutor(from_b.peer, "to b"));
    CHECK(NextFrame(*b) == "to b");
    CHECK_FALSE(a->Receive());
  }
}

TEST_SUITE("transport: sockets") {
  TEST_CASE("a socket file left by a killed controller is no obstacle") {
    const TempFolder folder;
    const fs::path path = folder.path() / "executors.sock";
    {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
      const UniqueFd left(socket(AF_UNIX, SOCK_STREAM, 0));
      REQUIRE(bind(left.get(), (sockaddr*)&address, sizeof(address)) == 0);
    }
    REQUIRE(fs::exists(path));
    const auto server = OpenServer({folder.path(), {}, {}});
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    CheckTalks(*server, *client);
  }

  TEST_CASE("the socket of a living server is not stolen") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK_THROWS_AS(OpenServer({folder.path(), {}, {}}), EnvironmentError);
    const auto client = OpenClient(ExecutorsEndpoint(folder.path()), {});
    CheckTalks(*server, *client);
  }

  TEST_CASE("a file in the way is not removed") {
    const TempFolder folder;
    std::ofstream(folder.path() / "requests.sock") << "mine";
    CHECK_THROWS_AS(OpenServer({folder.path(), {}, {}}), EnvironmentError);
    CHECK(fs::is_regular_file(folder.path() / "requests.sock"));
  }

  TEST_CASE("a path that is too long for a socket is refused with both numbers") {
    const TempFolder folder;
    const fs::path deep = folder.path() / std::string(100, 'd');
    fs::create_directory(deep);
    CHECK_THROWS_WITH_AS(
        OpenServer({deep, {}, {}}), doctest::Contains("107"), EnvironmentError);
    CHECK_THROWS_AS(OpenClient(ExecutorsEndpoint(deep), {}), EnvironmentError);
    CHECK_THROWS_AS(OpenServer({folder.path() / "absent", {}, {}}), EnvironmentError);
  }

  TEST_CASE("the sockets are private and dead without the server") {
    const TempFolder folder;
    auto server = OpenServer({folder.path(), {}, {}});
    for (const char* name : {"executors.sock", "requests.sock"}) {
      struct stat info {};
      REQUIRE(stat((folder.path() / name).c_str(), &info) == 0);
      CHECK((info.st_mode & 0777) == 0600);
    }
    server.reset();
    CHECK_FALSE(Ask(folder.path(), "anybody there?", 600));
  }
}

TEST_SUITE("transport: requests") {
  TEST_CASE("a question is answered") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    std::optional<std::string> answer;
    std::thread asker([&] { answer = Ask(folder.path(), "status?", 30); });
    std::optional<Frame> request;
    CHECK(WaitFor(*server,
                  [&] { return (request = server->ReceiveRequest()).has_value(); }));
    if (request) {
      CHECK(request->bytes == "status?");
      CHECK(server->SendReply(request->peer, "all is well"));
    }
    asker.join();
    CHECK(answer == "all is well");
    CHECK_FALSE(server->ReceiveFromExecutor());
  }

  TEST_CASE("a server that does not answer is given up in time") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), {}, {}});
    CHECK_FALSE(Ask(folder.path(), "status?", 0.05));
  }

  TEST_CASE("where nobody listens there is no wait") {
    const TempFolder folder;
    const auto start = Clock::now();
    CHECK_FALSE(Ask(folder.path(), "status?", 600));
    OpenServer({folder.path(), {}, {}}).reset();
    CHECK_FALSE(Ask(folder.path(), "status?", 600));
    CHECK(Clock::now() - start < std::chrono::seconds(300));
  }
}

}  // namespace
}  // namespace hyperopt
