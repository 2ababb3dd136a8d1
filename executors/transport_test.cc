#include "executors/transport.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Short, for sockets, and with a space in it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = "/tmp/ho t.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Waits until `done`, looking again whenever its descriptor wakes, and each second: a
// descriptor that does not wake makes the tests crawl (see "wakes"). False after half a
// minute.
template <typename Transport>
bool WaitFor(Transport& transport, const std::function<bool()>& done) {
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (Clock::now() > deadline) return false;
    pollfd polled{transport.fd(), POLLIN, 0};
    poll(&polled, 1, 1000);
  }
  return true;
}

Frame NextFrame(ServerTransport& server) {
  std::optional<Frame> frame;
  REQUIRE(WaitFor(server,
                  [&] { return (frame = server.ReceiveFromExecutor()).has_value(); }));
  return *frame;
}
std::string NextFrame(ClientTransport& client) {
  std::optional<std::string> frame;
  REQUIRE(WaitFor(client, [&] { return (frame = client.Receive()).has_value(); }));
  return *frame;
}

std::string ExecutorsEndpoint(const fs::path& folder) {
  return "ipc://" + (folder / "executors.sock").string();
}
KeyFile NewKeys(const fs::path& path) {
  WriteNewKeyFile(path);
  return ReadKeyFile(path);
}

// A frame there and one back.
void CheckTalks(ServerTransport& server, ClientTransport& client) {
  client.Send("ping");
  const Frame frame = NextFrame(server);
  CHECK(frame.bytes == "ping");
  CHECK(server.SendToExecutor(frame.peer, "pong"));
  CHECK(NextFrame(client) == "pong");
}

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

TEST_SUITE("transport: tcp and keys") {
  TEST_CASE("loopback without keys") {
    const TempFolder folder;
    for (const std::string listen :
         {"tcp://127.0.0.1:0", "tcp://127.0.0.1:*", "tcp://localhost:0"}) {
      const auto server = OpenServer({folder.path(), listen, {}});
      CHECK(server->tcp_endpoint().starts_with("tcp://127.0.0.1:"));
      const auto client = OpenClient(server->tcp_endpoint(), {});
      CheckTalks(*server, *client);
    }
  }

  TEST_CASE("nothing leaves this machine without keys") {
    const TempFolder folder;
    for (const std::string listen : {"tcp://0.0.0.0:0",
                                     "tcp://*:0",
                                     "tcp://10.1.2.3:5555",
                                     "tcp://example.org:5555",
                                     "tcp://127.example.org:5555",
                                     "tcp://[::]:0",
                                     "tcp://eth0:0"}) {
      CHECK_THROWS_WITH_AS(OpenServer({folder.path(), listen, {}}),
                           doctest::Contains("hyperopt keygen"),
                           ConfigError);
    }
    for (const std::string listen : {"127.0.0.1:80",
                                     "tcp://127.0.0.1",
                                     "tcp://:80",
                                     "tcp://127.0.0.1:99999",
                                     "tcp://127.0.0.1:http",
                                     "ipc:///tmp/x",
                                     ""}) {
      CHECK_THROWS_AS(OpenServer({folder.path(), listen, {}}), ConfigError);
    }
  }

  TEST_CASE("an address that is taken is named") {
    const TempFolder first;
    const TempFolder second;
    const auto server = OpenServer({first.path(), "tcp://127.0.0.1:0", {}});
    CHECK_THROWS_WITH_AS(OpenServer({second.path(), server->tcp_endpoint(), {}}),
                         doctest::Contains(server->tcp_endpoint().c_str()),
                         EnvironmentError);
  }

  TEST_CASE("with keys: the right one is admitted, on tcp; ipc stays as it is") {
    const TempFolder folder;
    const KeyFile keys = NewKeys(folder.path() / "keys");
    const auto server = OpenServer({folder.path(), "tcp://127.0.0.1:0", keys});
    const auto client = OpenClient(server->tcp_endpoint(), keys);
    CheckTalks(*server, *client);
    const auto local = OpenClient(ExecutorsEndpoint(folder.path()), {});
    CheckTalks(*server, *local);
    const std::string big(8 << 20, 'x');
    client->Send(big);
    CHECK((NextFrame(*server).bytes == big));
  }

  // Many of the wrong kind knock; none is ever heard, while one of the right kind,
  // which knocked last, is.
  TEST_CASE("a wrong key, a wrong server key, no key: never heard") {
    const TempFolder folder;
    const KeyFile keys = NewKeys(folder.path() / "keys");
    const KeyFile others = NewKeys(folder.path() / "others");
    const auto server = OpenServer({folder.path(), "tcp://127.0.0.1:0", keys});
    const std::string endpoint = server->tcp_endpoint();

    KeyFile wrong_client = keys;  // knows the server, is not on the list
    wrong_client.client_public = others.client_public;
    wrong_client.client_secret = others.client_secret;
    KeyFile wrong_server = keys;
    wrong_server.server_public = others.server_public;
    std::vector<std::unique_ptr<ClientTransport>> wrong;
    wrong.push_back(OpenClient(endpoint, wrong_client));
    wrong.push_back(OpenClient(endpoint, wrong_server));
    wrong.push_back(OpenClient(endpoint, others));
    wrong.push_back(OpenClient(endpoint, std::nullopt));
    for (const auto& client : wrong) {
      client->SetHeartbeatInterval(0.01);
      client->Send("let me in");
      client->SendHeartbeat("let me in");
    }
    const auto right = OpenClient(endpoint, keys);
    for (int i = 0; i < 20; ++i) {
      right->Send("right");
      const Frame frame = NextFrame(*server);
      REQUIRE(frame.bytes == "right");
      REQUIRE(server->SendToExecutor(frame.peer, "work"));
      REQUIRE(NextFrame(*right) == "work");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // more knocks
    }
    for (const auto& client : wrong) CHECK_FALSE(client->Receive());
  }

  TEST_CASE("a client with keys does not talk to a server without") {
    const TempFolder folder;
    const KeyFile keys = NewKeys(folder.path() / "keys");
    const auto server = OpenServer({folder.path(), "tcp://127.0.0.1:0", {}});
    const auto client = OpenClient(server->tcp_endpoint(), keys);
    client->Send("secret");
    const auto plain = OpenClient(server->tcp_endpoint(), {});
    CheckTalks(*server, *plain);
    CHECK_FALSE(server->ReceiveFromExecutor());
  }

  TEST_CASE("rubbish on the port is survived") {
    const TempFolder folder;
    const auto server = OpenServer({folder.path(), "tcp://127.0.0.1:0", {}});
    const std::string endpoint = server->tcp_endpoint();
    const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"),
                                     std::string(100'000, '\xff'),
                                     std::string()}) {
      const UniqueFd stranger(socket(AF_INET, SOCK_STREAM, 0));
      REQUIRE(connect(stranger.get(), (sockaddr*)&address, sizeof(address)) == 0);
      send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    const auto client = OpenClient(endpoint, {});
    CheckTalks(*server, *client);
  }
}

TEST_SUITE("transport: key files") {
  TEST_CASE("a new file is private, whole, and never written over") {
    const TempFolder folder;
    const fs::path path = folder.path() / "my keys";
    const mode_t before = umask(0);
    WriteNewKeyFile(path);
    umask(before);
    struct stat info {};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    const KeyFile keys = ReadKeyFile(path);
    CHECK(keys.server_public.size() == 40);
    CHECK(keys.client_public != keys.server_public);
    CHECK_THROWS_WITH_AS(
        WriteNewKeyFile(path), doctest::Contains("is there already"), EnvironmentError);
    CHECK(ReadKeyFile(path).server_secret == keys.server_secret);
    CHECK_THROWS_AS(WriteNewKeyFile(folder.path() / "absent" / "k"), EnvironmentError);
    fs::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
    CHECK_THROWS_AS(WriteNewKeyFile(folder.path() / "link"), EnvironmentError);
    CHECK_FALSE(fs::exists(folder.path() / "elsewhere"));
  }

  TEST_CASE("a file that others can read is refused") {
    const TempFolder folder;
    const fs::path path = folder.path() / "keys";
    WriteNewKeyFile(path);
    for (const mode_t mode : {0640, 0604, 0620, 0660, 0666, 0601}) {
      chmod(path.c_str(), mode);
      CHECK_THROWS_WITH_AS(
          ReadKeyFile(path), doctest::Contains("chmod 600"), ConfigError);
    }
    chmod(path.c_str(), 0400);
    CHECK_NOTHROW(ReadKeyFile(path));
  }

  TEST_CASE("what is no key file is refused") {
    const TempFolder folder;
    CHECK_THROWS_WITH_AS(ReadKeyFile(folder.path() / "absent"),
                         doctest::Contains("hyperopt keygen"),
                         ConfigError);
    CHECK_THROWS_AS(ReadKeyFile(folder.path()), ConfigError);
    const fs::path path = folder.path() / "keys";
    WriteNewKeyFile(path);
    const std::string whole = *ReadFile(path);
    const auto check_refused = [&](const std::string& text) {
      std::ofstream(path, std::ios::trunc) << text;
      CHECK_THROWS_AS(ReadKeyFile(path), ConfigError);
    };
    check_refused("");
    check_refused("rubbish\n");
    check_refused(whole.substr(0, whole.size() - 5));
    std::string changed = whole;
    char& last = changed[changed.size() - 2];
    last = last == 'a' ? 'b' : 'a';
    check_refused(changed);
    std::ofstream(path, std::ios::trunc) << whole;
    CHECK_NOTHROW(ReadKeyFile(path));
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
