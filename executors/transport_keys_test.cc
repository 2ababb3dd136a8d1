#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "executors/internal/transport_fixture.h"
#include "executors/transport.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

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
        WriteNewKeyFile(path), doctest::Contains("is there already"), ConfigError);
    CHECK(ReadKeyFile(path).server_secret == keys.server_secret);
    CHECK_THROWS_AS(WriteNewKeyFile(folder.path() / "absent" / "k"), EnvironmentError);
    fs::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
    CHECK_THROWS_AS(WriteNewKeyFile(folder.path() / "link"), ConfigError);
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

}  // namespace
}  // namespace hyperopt
