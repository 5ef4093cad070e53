import Foundation
import Glibc
import TestSupport
import Testing

@testable import PlaylistCheck

@Suite struct PlaylistFolderTests {
    /// An import reads records beside playlists. Neither a pipe may stop it, nor a link lead it elsewhere.
    @Test func onlyASmallPlainFileInTheFolderHasContents() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("text".utf8), to: "in/sub/file")
        try folder.write(Data("else".utf8), to: "outside")
        #expect(mkfifo(folder.path("in/pipe"), 0o600) == 0)
        #expect(symlink(folder.path("outside"), folder.path("in/link")) == 0)
        let source = PlaylistFolder(path: folder.path("in/master.m3u8"))
        func text(_ components: String..., limit: Int = 4) -> String? {
            source.contents(of: components, limit: limit).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(text("sub", "file") == "text")
        #expect(text("sub", "file", limit: 3) == nil)
        for name in ["sub", "pipe", "link", "none"] {
            #expect(text(name) == nil, "\(name)")
        }
    }
}
