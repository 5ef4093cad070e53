import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A store of another user")
struct OwnershipTests {
    /// Denies access to a folder: root runs as another user, other users remove the permission.
    private struct Stranger {
        /// The wrapper that runs a program without access.
        let wrapper: [String]
        private let closed: [String]

        init(to paths: [String]) {
            let isRoot = geteuid() == 0
            wrapper = isRoot ? ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"] : ["env"]
            closed = isRoot ? [] : paths
            for path in closed {
                chmod(path, 0)
            }
        }

        /// Restores the permissions.
        func leave() { for path in closed { chmod(path, 0o700) } }
    }

    @Test("is refused with the reason, and unchanged", arguments: [0o700, 0o755, 0o777])
    func refusesForeignStore(mode: Int) async throws {
        try await Scene.with { scene in
            let store = scene.weir.store
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            let state = try TemporaryFolder()
            // Every user can reach the store folder.
            chmod((store as NSString).deletingLastPathComponent, 0o711)
            chmod(store, mode_t(mode))
            if geteuid() == 0 {
                chown(state.path, 1, 1)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: store)
            let before = try Self.files(in: store)

            let stranger = Stranger(to: mode == 0o700 ? [store] : names.map { store + "/" + $0 })
            let serve = ["serve", "--listen", "127.0.0.1:0", "--store", store, "--state", state.path]
            let line = stranger.wrapper + [Repository.builtProgram("weir")] + serve
            let result = try await ProcessRunner.run(
                line[0], Array(line.dropFirst()), environment: ["HOME": state.path, "NO_COLOR": "1"],
                within: .seconds(20))
            stranger.leave()
            #expect(result.exit == .code(73), "\(result.errors)")
            let path = store + (mode == 0o700 ? "" : "/catalogue-1.sqlite")
            #expect(result.errors.contains("\(path): Permission denied\n"), "\(result.errors)")
            #expect(result.errors.contains("\ntry: run weir as the owner of the folder"), "\(result.errors)")
            #expect(try Self.files(in: store) == before)

            try await scene.weir.start()
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    /// Owner, modification time and bytes of every file.
    private static func files(in folder: String) throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            var status = stat()
            lstat(folder + "/" + name, &status)
            let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
            files[name] = "\(status.st_uid) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(bytes.hashValue)"
        }
        return files
    }
}
