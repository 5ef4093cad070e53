import Foundation
import Glibc
import TestSupport
import Testing
import WeirAPI

@testable import Control

@Suite struct StateDirectoryTests {
    private let folder: TemporaryFolder
    private let state: StateDirectory

    init() throws {
        folder = try TemporaryFolder()
        state = StateDirectory(folder.path("a/state"))
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func aClaimCreatesAPrivateFolderAndAToken() throws {
        let claim = try state.claim()
        #expect(mode(state.path) == 0o700)
        #expect(mode(state.path + "/token") == 0o600)
        #expect(claim.token.utf8.count == 43)
        #expect(try state.token() == claim.token)
    }

    @Test func aTokenIsKeptUnlessOthersCouldReadIt() throws {
        let first = try state.claim().token
        #expect(try state.claim().token == first)
        chmod(state.path + "/token", 0o640)
        let second = try state.claim().token
        #expect(second != first)
        #expect(mode(state.path + "/token") == 0o600)
        try Data("short\n".utf8).write(to: URL(fileURLWithPath: state.path + "/token"))
        chmod(state.path + "/token", 0o600)
        #expect(throws: APIError.self) { try state.token() }
        #expect(try state.claim().token.utf8.count == 43)
    }

    @Test func permissionsOfAnOpenFolderAreTightened() throws {
        try FileManager.default.createDirectory(atPath: state.path, withIntermediateDirectories: true)
        chmod(state.path, 0o755)
        let claim = try state.claim()
        #expect(mode(claim.directory.path) == 0o700)
    }

    @Test func aSecondClaimNamesTheFirstDaemon() throws {
        let claim = try state.claim()
        try claim.publish(url: "http://127.0.0.1:9")
        let error = #expect(throws: APIError.self) { try state.claim() }
        #expect(error?.code == .cannotWrite)
        #expect(error?.message.hasSuffix("and listens on http://127.0.0.1:9") == true)
    }

    @Test func theAddressIsPublishedUntilWithdrawn() throws {
        #expect(state.daemonURL == nil)
        let claim = try state.claim()
        try claim.publish(url: "http://127.0.0.1:1")
        try claim.publish(url: "http://[::1]:2")
        #expect(state.daemonURL == "http://[::1]:2")
        #expect(mode(state.path + "/listening") == 0o600)
        claim.withdraw()
        #expect(state.daemonURL == nil)
        #expect(folder.files() == ["a/state/lock", "a/state/token"])
    }

    @Test func onlyLoopbackURLsAreAccepted() throws {
        let claim = try state.claim()
        for url in ["http://example.com:1", "https://127.0.0.1", "file:///etc/passwd", ""] {
            try claim.publish(url: url)
            #expect(state.daemonURL == nil)
        }
    }

    @Test func anUncreatableFolderIsNamed() throws {
        try folder.write(Data(), to: "a")
        let error = #expect(throws: APIError.self) { try state.claim() }
        #expect(error?.code.exitCode == 73)
        #expect(error?.message.hasPrefix("the state directory \(state.path) cannot be created: ") == true)
    }

    @Test func withoutATokenThereIsNoDaemon() {
        let error = #expect(throws: APIError.self) { try state.token() }
        #expect(error?.code == .noDaemon)
    }
}
