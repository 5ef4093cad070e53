import Assets
import HLS
import Store

/// A range of segments of a stored rendition as a playlist of its own, for ffmpeg.
struct FilmCut: Sendable {
    let folder: String
    let names: MediaNames
    let playlist: MediaPlaylist
    let segments: Range<Int>
    /// True for transport stream behind fragments, to which their initialization section still applies by the playlist.
    let isWithoutSection: Bool

    /// The path in the folder of the export.
    var path: String { "\(folder)/\(fileName)" }
    private var fileName: String { "cut-\(segments.lowerBound)-\(segments.upperBound).m3u8" }

    /// Writes the playlist beside the pieces.
    func write(to work: Directory) throws(StoreError) {
        let stays = playlist.segments.indices.map(segments.contains)
        let text: [UInt8]
        do throws(PlaylistError) {
            text = try names.text(of: playlist, as: .bundle, cut: MediaPlaylistCut(stays: stays, isMarked: false))
        } catch {
            throw StoreError(.io, path: path, detail: "\(error)")
        }
        try work.subdirectory(folder).write(withoutSections(text), as: fileName)
    }

    private func withoutSections(_ text: [UInt8]) -> [UInt8] {
        guard isWithoutSection else { return text }
        let tag = Array("#EXT-X-MAP:".utf8)
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return Array(lines.filter { !$0.starts(with: tag) }.joined(separator: [UInt8(ascii: "\n")]))
    }
}
