import Foundation
import Testing

@testable import weir

@Suite struct DiskPathTests {
    @Test func pathsBecomeAbsoluteWithoutResolvingLinks() {
        let here = FileManager.default.currentDirectoryPath
        #expect(DiskPath.absolute("/films//mine/") == "/films/mine")
        #expect(DiskPath.absolute("film.tar") == here + "/film.tar")
        #expect(DiskPath.absolute("./a/./b") == here + "/a/b")
        // `..` is not resolved here: only the daemon's disk knows where a symbolic link leads.
        #expect(DiskPath.absolute("/a/../b") == "/a/../b")
    }
}

struct PlayerEnvironmentTests {
    @Test(arguments: [
        ("", "localhost,127.0.0.1,::1"), ("*", "*"), ("a.org, localhost", "a.org,localhost,127.0.0.1,::1"),
        ("localhost,127.0.0.1,::1,", "localhost,127.0.0.1,::1"),
    ])
    func thisMachineIsExcepted(list: String, expected: String) {
        #expect(PlayerEnvironment.exceptions(list) == expected)
    }
}
