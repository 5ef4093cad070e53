import Testing

@testable import Extras

@Suite struct ThumbnailTileTests {
    @Test(
        "is the image about a fifth into its grid, as far as that is filled",
        arguments: [
            ("RESOLUTION=160x90,LAYOUT=5x1,DURATION=2", 10.0, [160, 0, 160, 90]),
            ("LAYOUT=5x4,RESOLUTION=160x90,DURATION=2.0", 40, [640, 0, 160, 90]),
            ("RESOLUTION=160x90,LAYOUT=2x20,DURATION=1", 40, [0, 360, 160, 90]),
            ("RESOLUTION=160x90,LAYOUT=5x4,DURATION=2", 8, [0, 0, 160, 90]),
            ("RESOLUTION=160x90,LAYOUT=5x4", 8, [640, 0, 160, 90]),
            ("RESOLUTION=160x90,LAYOUT=5x4,DURATION=0", 8, [640, 0, 160, 90]),
        ])
    func tile(attributes: String, seconds: Double, expected: [Int]) throws {
        let tile = try #require(ThumbnailTile(tag: "#EXT-X-TILES:" + attributes, seconds: seconds))
        #expect([tile.x, tile.y, tile.width, tile.height] == expected)
    }

    @Test(
        arguments: [
            "", "LAYOUT=5x4", "RESOLUTION=160x90", "RESOLUTION=160,LAYOUT=5x4", "RESOLUTION=0x90,LAYOUT=5x4",
            "RESOLUTION=160x90,LAYOUT=5x99999999999999999999", "RESOLUTION=-1x90,LAYOUT=5x4", "RESOLUTION,LAYOUT",
        ])
    func isNone(attributes: String) {
        #expect(ThumbnailTile(tag: "#EXT-X-TILES:" + attributes, seconds: 8) == nil)
    }
}
