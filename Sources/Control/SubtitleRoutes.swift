package import Assets
package import EventLoop
import Extras
import HTTPMessage
package import HTTPServer
package import Sharing

/// Serves subtitle tracks, and attached chapters, as one file each: `/<name>.<language>.vtt` or `/<name>.<track>.vtt`. Players such
/// as mpv and ffplay read no WebVTT renditions, but such files; the page reads both.
@LoopActor package final class SubtitleRoutes {
    private let library: Library
    private let exporter: Exporter

    package init(_ library: Library, _ exporter: Exporter) {
        self.library = library
        self.exporter = exporter
    }

    /// Answers a request for a subtitle file of a known asset. Returns false for any other request.
    package func handle(_ exchange: Exchange) -> Bool {
        guard let (name, track) = Self.parts(of: exchange.head.path), let asset = library.asset(named: name) else {
            return false
        }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            exchange.reply(.methodNotAllowed, "Only GET and HEAD are accepted here.")
            return true
        }
        let task = Task { @LoopActor in await answer(exchange, track, of: asset) }
        // A client that leaves ends the work.
        exchange.whenEnded { _ in task.cancel() }
        return true
    }

    private func answer(_ exchange: Exchange, _ track: String, of asset: Asset) async {
        do throws(LibraryError) { try library.checkExpiry(of: asset) } catch {
            return exchange.reply(.gone, "\(error).")
        }
        await library.wake(asset)
        do throws(ExchangeError) {
            let text: [UInt8]
            if let chapters = ChapterList(attachedTo: asset, as: track) {
                text = chapters.webVTT(length: asset.duration)
            } else {
                text = try await exporter.subtitles(track, of: asset)
            }
            var representation = Representation(size: Int64(text.count), mediaType: .webVTT)
            representation.fields.append(.cacheControl, literal: "no-store")
            exchange.reply(representation, .bytes(text))
        } catch {
            let status: HTTPStatus = error.code == .incomplete ? .notFound : .badGateway
            exchange.reply(status, "\(error).")
        }
    }

    /// The name and the track in a path; nil for another path.
    static func parts(of path: String) -> (name: String, track: String)? {
        guard path.hasPrefix("/"), path.hasSuffix(".vtt"), path.utf8.count > 5 else { return nil }
        let file = path.dropFirst().dropLast(4)
        guard !file.contains("/"), let dot = file.lastIndex(of: ".") else { return nil }
        let name = file[..<dot]
        let track = file[file.index(after: dot)...]
        guard let name = PercentEncoding.decode(name), let track = PercentEncoding.decode(track), !name.isEmpty,
            !track.isEmpty
        else { return nil }
        return (name, track)
    }
}
