import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

/// A bundle on its way to another disk, with files that have several names.
@Suite struct BundleTransitTests {
    private let folder: TemporaryFolder
    private let store: BundleStore
    private let bundle: Directory
    private let volume: Volume
    private let transit: BundleTransit

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path("store"), reserve: 0)
        bundle = try store.bundle("film", create: true)
        let video = try bundle.subdirectory("video", create: true)
        let sound = try bundle.subdirectory("audio", create: true)
        try video.write([UInt8](repeating: 7, count: 1000), as: "0.ts")
        try video.write([UInt8](repeating: 8, count: 1000), as: "1.ts")
        linkat(video.descriptor, "0.ts", video.descriptor, "2.ts", 0)
        linkat(video.descriptor, "0.ts", sound.descriptor, "0.ts", 0)
        volume = try store.beginMove(to: folder.path("volume"), occupied: [])
        transit = try BundleTransit(of: "film", from: store.home, to: volume, noting: store.ownChanges) {
            $0.hasSuffix(".ts")
        }
    }

    private func commit() throws { try transit.commit(ReadingPace(bytesPerSecond: 0)) }

    private func moved(_ folder: String, _ file: String) throws -> FileIdentity? {
        try volume.bundle("film", create: false).subdirectory(folder).identity(of: file)
    }

    private func bytes(_ folder: String, _ file: String) throws -> [UInt8]? {
        try volume.bundle("film", create: false).subdirectory(folder).read(file)
    }

    @Test func namesOfOneFileStayOneFile() throws {
        try commit()
        let file = try #require(try moved("video", "0.ts")?.file)
        #expect(try moved("video", "2.ts")?.file == file && moved("audio", "0.ts")?.file == file)
        #expect(try moved("video", "1.ts")?.file != file)
        #expect(try bytes("audio", "0.ts") == [UInt8](repeating: 7, count: 1000))
    }

    @Test("of which one becomes another file between two passes: the others keep their bytes")
    func aNameThatIsReplaced() throws {
        try transit.pass(ReadingPace(bytesPerSecond: 0))
        let video = try bundle.subdirectory("video")
        try video.remove("2.ts")
        try video.write([UInt8](repeating: 9, count: 500), as: "2.ts")
        try commit()
        #expect(try bytes("video", "2.ts") == [UInt8](repeating: 9, count: 500))
        #expect(try bytes("video", "0.ts") == [UInt8](repeating: 7, count: 1000))
        #expect(try moved("audio", "0.ts")?.file == moved("video", "0.ts")?.file)
    }
}
