import EventLoop
import Extras
import Foundation
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Sharing

@Suite("A poster is a frame of what is stored") @LoopActor struct PosterTests {
    private func film(_ fixture: String, in house: TestHouse) async throws -> Asset {
        try await house.exchange.importer.importAsset(at: Repository.path("fixtures/media/\(fixture)"), name: fixture)
    }

    @Test(
        "of transport streams, fragments behind their section, ranges of a file, and encrypted segments",
        arguments: ["ts", "cmaf", "byterange-fmp4", "byterange-ts", "aes", "aes-noiv"])
    func isOfEachContainer(fixture: String) async throws {
        let house = try await TestHouse()
        let asset = try await film(fixture, in: house)
        let picture = try #require(await house.exchange.posters.poster(of: asset))
        #expect(picture.kind == .jpeg)
        // It is made once.
        #expect(await house.exchange.posters.poster(of: asset) == picture)
    }

    @Test("and there is none of sound, nor of damaged segments")
    func isNotOfOthers() async throws {
        let house = try await TestHouse()
        #expect(await house.exchange.posters.poster(of: try await film("audio", in: house)) == nil)

        let asset = try await film("ts", in: house)
        await house.flush()
        try await DiskTick.pass(in: house.folder)
        for path in house.folder.files() where path.hasSuffix(".ts") {
            try FileDamage.flipBit(of: house.folder.path(path))
        }
        #expect(await house.exchange.posters.poster(of: asset) == nil)
    }

    /// The colour of a picture as a whole: the mean of each of red, green and blue.
    private func colour(of picture: Artwork, in folder: TemporaryFolder) async throws -> [UInt8] {
        try folder.write(Data(picture.bytes), to: "poster.jpg")
        let words = ["-v", "error", "-y", "-i", folder.path("poster.jpg"), "-vf", "scale=1:1:flags=area"]
        let output = ["-f", "rawvideo", "-pix_fmt", "rgb24", folder.path("colour")]
        #expect(try await ProcessRunner.run("ffmpeg", words + output).exit == .code(0))
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("colour"))))
    }

    @Test("attached thumbnails come before a frame, and of a grid the image about a fifth into the film")
    func isThumbnail() async throws {
        let house = try await TestHouse()
        let folder = try TemporaryFolder()
        let asset = try await film("ts", in: house)
        let posters = house.exchange.posters
        let frame = try #require(await posters.poster(of: asset))
        // Five images in a row, of which the second is blue and the others are red.
        let sheet = ["color=red:s=800x90", "drawbox=x=160:w=160:h=90:color=blue:t=fill"].joined(separator: ",")
        let words = ["-v", "error", "-f", "lavfi", "-i", sheet, "-frames:v", "1", folder.path("sheet.png")]
        #expect(try await ProcessRunner.run("ffmpeg", words).exit == .code(0))
        let picture = try #require(
            Artwork([UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("sheet.png"))))))
        let length = try #require(asset.duration)
        let track = ThumbnailTrack(
            sheet: "sheet.png", size: (800, 90), grid: (5, 1), interval: length / 5, length: length)
        _ = try await house.library.attachments.attach(
            AttachmentOrder(.thumbnails(track, pictures: [picture])), to: asset)
        let poster = try #require(await posters.poster(of: asset))
        #expect(poster != frame)
        let colour = try await colour(of: poster, in: folder)
        #expect(colour[0] < 40 && colour[2] > 200, "\(colour)")
    }

    @Test("many are asked for at once and come one after the other")
    func comesInTurn() async throws {
        let house = try await TestHouse()
        let asset = try await film("ts", in: house)
        let posters = house.exchange.posters
        let tasks = (0..<8).map { _ in Task { @LoopActor in await posters.poster(of: asset) } }
        var pictures: [Artwork?] = []
        for task in tasks {
            pictures.append(await task.value)
        }
        #expect(Set(pictures.compactMap { $0?.bytes }).count == 1 && pictures.count == 8)
    }
}
