import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Playback

@LoopActor @Suite struct SegmentFormsTests {
    private static func open(in folder: TemporaryFolder) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
            return path?.hasPrefix(folder.path + "/") ?? false
        }
    }

    @Test func manySessionsKeepTheirFormsWithFewDescriptors() throws {
        let folder = try TemporaryFolder()
        let files = SessionFiles(path: folder.path, now: { 0 })
        let spliced = SegmentForm(substitute: "video-2", isSpliced: true)
        let sessions = (0..<100).map { SegmentForms(of: "a\($0)", asset: "film", in: files) }
        for number in 0..<2 {
            for forms in sessions {
                forms.record(number == 0 ? .own : spliced, of: number, in: "video-1")
            }
        }
        #expect(try Self.open(in: folder) <= 16)
        for place in sessions.indices {
            let restored = SegmentForms(of: "a\(place)", asset: "film", in: files)
            #expect(restored.isContinued && restored.form(of: 0, in: "video-1") == .own)
            #expect(restored.form(of: 1, in: "video-1") == spliced)
        }
    }
}
