import Foundation
import TestSupport

/// A folder like those of AVAssetDownloadTask, made from a fixture with one folder per rendition.
struct MoviePackageFixture {
    /// Path of the package.
    let path: String
    private let fixture: String

    /// - Parameters:
    ///   - url: the recorded URL of the multivariant playlist.
    ///   - complete: the folders of complete renditions.
    ///   - begun: the folders of renditions with only their first segment.
    init(of fixture: String, at path: String, url: String, complete: [String], begun: [String]) throws {
        self.path = path
        self.fixture = Repository.path("fixtures/media/\(fixture)")
        try FileManager.default.createDirectory(atPath: path + "/Data", withIntermediateDirectories: true)
        let master = try Data(contentsOf: URL(filePath: self.fixture + "/master.m3u8"))
        try (master + Data([0])).write(to: URL(filePath: path + "/Data/Playlist-master.m3u8-1.data"))
        let base = url.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        var streams = ""
        for (number, name) in (complete + begun).enumerated() {
            let isComplete = complete.contains(name)
            streams += """
                <Stream ID="\(number)-X" Path="\(number)-X" NetworkURL="\(base)/\(name)/media.m3u8">
                <Complete>\(isComplete ? "YES" : "NO")</Complete></Stream>
                """
            try write(name, to: path + "/\(number)-X", isComplete: isComplete)
        }
        try write(
            """
            <HLSMoviePackage xmlns="http://apple.com/IMG/Schemas/HLSMoviePackage"><Version>1.0</Version>
            <HLSMoviePackageType>PersistedStore</HLSMoviePackageType><Streams>\(streams)</Streams>
            <MasterPlaylist><NetworkURL>\(url)</NetworkURL></MasterPlaylist>
            <DataItems Directory="Data"><DataItem><ID>1</ID><Category>Playlist</Category><Name>master.m3u8</Name>
            <DataPath>Playlist-master.m3u8-1.data</DataPath><Role>Master</Role></DataItem></DataItems></HLSMoviePackage>
            """, to: path + "/boot.xml")
    }

    private func write(_ name: String, to folder: String, isComplete: Bool) throws {
        let source = fixture + "/" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = try String(contentsOfFile: source + "/media.m3u8", encoding: .utf8)
        try write(text, to: folder + "/stream.m3u8")
        try FileManager.default.copyItem(atPath: source + "/init.mp4", toPath: folder + "/0.initfrag")
        let segments = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var list = ""
        for (number, segment) in segments.prefix(isComplete ? segments.count : 1).enumerated() {
            try FileManager.default.copyItem(atPath: source + "/" + segment, toPath: folder + "/\(number).frag")
            let size = try Data(contentsOf: URL(filePath: folder + "/\(number).frag")).count
            list += "<SEG Dur=\"2\" Len=\"\(size)\" Off=\"0\" PATH=\"\(number).frag\" SeqNum=\"\(number)\"/>"
        }
        try write(
            """
            <StreamInfo xmlns="http://apple.com/IMG/Schemas/HLSPersistentStreamInfo"><Version>1.0</Version>
            <Complete>\(isComplete ? "YES" : "NO")</Complete>
            <MediaPlaylist><PathToLocalCopy>stream.m3u8</PathToLocalCopy></MediaPlaylist>
            <MediaInitializationSegments><ISEG PATH="0.initfrag" SeqNum="0"/></MediaInitializationSegments>
            <MediaSegments>\(list)</MediaSegments></StreamInfo>
            """, to: folder + "/StreamInfoBoot.xml")
    }

    private func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
}
