import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct ExportTargetTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test(arguments: [ExportTarget.Kind.file, .folder])
    func namesTheTargetOnlyWhenFinished(kind: ExportTarget.Kind) throws {
        let target = try ExportTarget(path: folder.path("film of mine"), kind: kind)
        #expect(names == [".film of mine.weir-part"])
        try target.finish()
        #expect(names == ["film of mine"])
    }

    @Test(arguments: [ExportTarget.Kind.file, .folder])
    func leavesNothingAfterDiscard(kind: ExportTarget.Kind) throws {
        let target = try ExportTarget(path: folder.path("film"), kind: kind)
        if kind == .folder {
            try target.directory().write([1], as: "0.ts")
        }
        target.discard()
        #expect(names == [])
    }

    @Test(arguments: ["a file", "a folder", "a link"])
    func refusesAnExistingTarget(what: String) throws {
        let path = folder.path("film")
        switch what {
        case "a file": try Data([7]).write(to: URL(filePath: path))
        case "a folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere")
        }
        #expect(code { _ = try ExportTarget(path: path, kind: .file) } == .exists)
        #expect(code { _ = try ExportTarget(path: path, kind: .folder) } == .exists)
        #expect(names == ["film"])
    }

    @Test func doesNotReplaceATargetCreatedMeanwhile() throws {
        let target = try ExportTarget(path: folder.path("film.tar"), kind: .file)
        try Data([7]).write(to: URL(filePath: folder.path("film.tar")))
        #expect(code { try target.finish() } == .exists)
        #expect(try Data(contentsOf: URL(filePath: folder.path("film.tar"))) == Data([7]))
    }

    @Test func refusesASecondExportToTheSamePath() throws {
        let first = try ExportTarget(path: folder.path("film.tar"), kind: .file)
        #expect(code { _ = try ExportTarget(path: folder.path("film.tar"), kind: .file) } == .busy)
        try first.finish()
        #expect(code { _ = try ExportTarget(path: folder.path("film.tar"), kind: .file) } == .exists)
    }

    @Test func removesTheRestOfAKilledExport() throws {
        let left = folder.path(".film.weir-part")
        try FileManager.default.createDirectory(atPath: left + "/video", withIntermediateDirectories: true)
        try Data([7]).write(to: URL(filePath: left + "/video/0.ts"))
        try ExportTarget(path: folder.path("film"), kind: .folder).finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("film")) == [])
    }

    @Test(arguments: [ExportTarget.Kind.file, .folder], ["a file", "a folder", "nothing"])
    func doesNotFollowAPlantedLink(kind: ExportTarget.Kind, what: String) throws {
        let outside = try TemporaryFolder()
        try outside.write(Data([7]), to: "folder/0.ts")
        let target = outside.path(what == "a file" ? "folder/0.ts" : what == "a folder" ? "folder" : "nothing")
        let link = folder.path(".film.weir-part")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(code { _ = try ExportTarget(path: folder.path("film"), kind: kind) } != nil)
        #expect(names == [".film.weir-part"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        #expect(outside.files() == ["folder/0.ts"])
        #expect(try Data(contentsOf: URL(filePath: outside.path("folder/0.ts"))) == Data([7]))
    }

    /// The test must run as root to give files to another user.
    @Test(.enabled(if: geteuid() == 0), arguments: [ExportTarget.Kind.file, .folder])
    func leavesAnotherUsersPartAlone(kind: ExportTarget.Kind) throws {
        let part = folder.path(".film.weir-part")
        if kind == .file {
            try folder.write(Data([7]), to: ".film.weir-part")
        } else {
            try folder.write(Data([7]), to: ".film.weir-part/0.ts")
        }
        chown(part, 65534, 65534)
        #expect(code { _ = try ExportTarget(path: folder.path("film"), kind: kind) } == .notWritable)
        #expect(try Data(contentsOf: URL(filePath: kind == .file ? part : part + "/0.ts")) == Data([7]))
    }

    @Test func doesNotWriteToTheOtherNameOfALinkedPart() throws {
        try folder.write(Data([7]), to: "precious")
        link(folder.path("precious"), folder.path(".film.weir-part"))
        let target = try ExportTarget(path: folder.path("film"), kind: .file)
        #expect(write(target.descriptor, [8], 1) == 1)
        try target.finish()
        #expect(try Data(contentsOf: URL(filePath: folder.path("precious"))) == Data([7]))
        #expect(try Data(contentsOf: URL(filePath: folder.path("film"))) == Data([8]))
    }

    @Test(arguments: ["film.tar", "", "/", "/tmp/..", "relative/film"])
    func refusesAPathThatIsNotAbsolute(path: String) {
        #expect(code { _ = try ExportTarget(path: path, kind: .file) } == .badName)
    }

    @Test func doesNotCreateTheParentFolder() {
        #expect(code { _ = try ExportTarget(path: folder.path("no/film"), kind: .folder) } == .missing)
        #expect(names == [])
    }
}
