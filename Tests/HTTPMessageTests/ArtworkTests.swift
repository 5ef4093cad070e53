import Foundation
import HTTPMessage
import Testing

@Suite struct ArtworkTests {
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]

    @Test func recognizesImagesByTheirFirstBytes() {
        #expect(Artwork(Self.png)?.kind == .png)
        #expect(Artwork([0xFF, 0xD8, 0xFF, 0xE0])?.kind == .jpeg)
        #expect(Artwork(Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8))?.kind == .webp)
        for text in ["", "<svg/>", "GIF89a", "RIFF1234WAVE", "RIFF", "\u{89}PNG\r\n"] {
            #expect(Artwork(Array(text.utf8)) == nil)
        }
        #expect(Artwork(Array(Self.png.dropLast(3))) == nil)
    }

    @Test func refusesImagesAboveTheSizeLimit() {
        let fill = { Self.png + [UInt8](repeating: 0, count: $0 - Self.png.count) }
        #expect(Artwork(fill(Artwork.limit)) != nil)
        #expect(Artwork(fill(Artwork.limit + 1)) == nil)
    }
}
