import Assets
import EventLoop
import Extras
import Foundation
import Glibc
import HTTPMessage
import Orders
import SafeText
import SegmentFormat
import Store
package import WeirAPI

/// Tracks that the user attaches to assets.
extension LibraryService {
    package func attach(
        _ request: API.AttachRequest, toAsset name: String
    ) async throws(APIError) -> API.Attachment {
        let asset = try find(name)
        let file = try await AttachedFile(request, duration: asset.duration ?? 0)
        do throws(LibraryError) {
            let attachment = try await library.attachments.attach(file.order, to: asset)
            var shape = API.Attachment(
                asset: asset.name, id: attachment.id, kind: file.kind, name: attachment.name, count: file.count)
            shape.language = attachment.language
            shape.assumedEncoding = file.assumedEncoding
            return shape
        } catch {
            if error.code == .notStored {
                throw APIError(.incomplete, error.message, next: "weir get \(asset.name)")
            }
            throw APIError(error, asset: asset.name)
        }
    }

    package func detach(_ id: String, fromAsset name: String) async throws(APIError) -> API.Detachment {
        let asset = try find(name)
        do throws(LibraryError) {
            return API.Detachment(
                asset: asset.name, id: id, bytes: Int(try library.attachments.detach(id, from: asset)))
        } catch {
            if error.code == .missing {
                throw APIError(.noSuchTrack, error.message, next: "weir show \(asset.name)")
            }
            throw APIError(error, asset: asset.name)
        }
    }
}

/// A file that becomes a track, read from the disk.
struct AttachedFile {
    private(set) var order: AttachmentOrder
    let kind: AttachmentKind
    /// The number of cues, chapters or images.
    let count: Int
    /// See `API.Attachment.assumedEncoding`.
    let assumedEncoding: String?

    /// The longest text, and the most pictures of thumbnails.
    private static let textLimit = 16 << 20
    private static let pictureLimit = 2000
    /// The most bytes of all pictures, which are in memory at one time.
    private static let picturesLimit = 64 << 20

    /// - Parameter duration: of the film, in seconds.
    init(_ request: API.AttachRequest, duration: Double) async throws(APIError) {
        let path = request.path
        guard path.hasPrefix("/") else {
            throw APIError(.badRequest, "path is not the absolute path of a file on the daemon's machine")
        }
        let bytes = try await Self.read(path, limit: Self.textLimit)
        kind = try await Self.inLane(about: path) { turn throws(APIError) in
            try Self.kind(of: Self.name(of: request), content: bytes, request, during: turn)
        }
        if kind == .subtitles, request.language == nil {
            throw APIError(
                .badTrack, "subtitles need a language", next: "name it as an RFC 5646 tag: --lang de, --lang pt-BR")
        }
        if let language = request.language {
            try Self.check(language)
        }
        let content = try await Self.content(bytes, as: kind, request, duration: duration)
        order = AttachmentOrder(content.content)
        count = content.count
        // Latin-1 fits any bytes, so that it is only assumed.
        if content.encoding == .latin1 {
            assumedEncoding = content.encoding.rawValue
        } else {
            assumedEncoding = nil
        }
        order.language = request.language
        order.name = request.title ?? Self.displayName(request.language)
        order.isForced = request.isForced ?? false
        order.isDefault = request.isDefault ?? false
    }

    private typealias Content = (content: AttachmentOrder.Content, count: Int, encoding: DecodedText.Encoding)

    private static func content(
        _ bytes: [UInt8], as kind: AttachmentKind, _ request: API.AttachRequest, duration: Double
    ) async throws(APIError) -> Content {
        if kind == .thumbnails {
            let (track, pictures) = try await thumbnails(bytes, request, duration: duration)
            return (.thumbnails(track, pictures: pictures), track.count, .utf8)
        }
        return try await inLane(about: request.path) { turn throws(APIError) in
            try parsed(bytes, as: kind, request, during: turn)
        }
    }

    private static func parsed(
        _ bytes: [UInt8], as kind: AttachmentKind, _ request: API.AttachRequest, during turn: LaneTurn
    ) throws(APIError) -> Content {
        do throws(SubtitleError) {
            let encoding = try DecodedText(bytes).encoding
            if kind == .chapters {
                let list = try ChapterList(bytes) { turn.mayGoOn }
                return (.chapters(list), list.chapters.count, encoding)
            }
            let file = try CueFile(bytes) { turn.mayGoOn }
            return (.subtitles(file), file.cues.count, encoding)
        } catch {
            throw APIError(.badTrack, "\(name(of: request)) cannot be attached as \(kind.rawValue): \(error)")
        }
    }

    /// Runs work on the file's contents on the lane for such files.
    private static func inLane<Value: Sendable>(
        about path: String, _ body: @escaping @Sendable (LaneTurn) throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        let result = await FileLane.shared.run { turn in Result { () throws(APIError) in try body(turn) } }
        guard let result else { throw givenUp(path) }
        return try result.get()
    }

    /// The client has left: it does not read this.
    private static func givenUp(_ path: String) -> APIError {
        APIError(.badTrack, "\(path) was not read to the end: the request was cancelled")
    }

    private static func name(of request: API.AttachRequest) -> String {
        request.path.split(separator: "/").last.map(String.init) ?? request.path
    }

    // MARK: Kinds

    private static func kind(
        of name: String, content bytes: [UInt8], _ request: API.AttachRequest, during turn: LaneTurn
    ) throws(APIError) -> AttachmentKind {
        if let kind = request.kind {
            return kind
        }
        let suffix = name.split(separator: ".").last ?? ""
        switch suffix.lowercased() {
        case "json": return .chapters
        case "srt": return .subtitles
        case "jpg", "jpeg", "png", "webp": return .thumbnails
        case "vtt", "webvtt":
            let file = try? CueFile(bytes) { turn.mayGoOn }
            if let file, file.cues.allSatisfy({ ThumbnailTrack.isPicture($0.lines.first ?? "") }) {
                return .thumbnails
            }
            guard request.language == nil, name.lowercased().contains("chapter") else { return .subtitles }
            return .chapters
        default:
            throw APIError(
                .badTrack, "\(name) is no .srt, .vtt, .json, .jpg, .png or .webp file",
                next: "convert it, for instance with: ffmpeg -i \(name) track.srt; or give --kind")
        }
    }

    private static func check(_ language: String) throws(APIError) {
        let subtags = language.split(separator: "-", omittingEmptySubsequences: false)
        let first = subtags[0].lowercased()
        let isTag = subtags.allSatisfy { part in
            (1...8).contains(part.utf8.count)
                && part.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
        }
        let isKnown = ["und", "mul", "zxx", "mis"].contains(first) || Locale.LanguageCode(first).isISOLanguage
        guard isTag, isKnown, (2...3).contains(first.utf8.count) else {
            throw APIError(
                .badTrack, "\"\(language)\" is no language known by ISO 639",
                next: "use a tag such as de, en-GB or pt-BR")
        }
    }

    /// The name of a language in itself: `Deutsch`; nil if it is not known.
    private static func displayName(_ language: String?) -> String? {
        language.flatMap { Locale(identifier: $0).localizedString(forIdentifier: $0) }
    }

    // MARK: Thumbnails

    private static func thumbnails(
        _ bytes: [UInt8], _ request: API.AttachRequest, duration: Double
    ) async throws(APIError) -> (ThumbnailTrack, [Artwork]) {
        let name = name(of: request)
        if let sheet = Artwork(bytes) {
            let grid = try grid(request.tiles, of: name)
            guard let size = PictureSize.of(sheet), size.width >= grid.columns, size.height >= grid.rows else {
                throw APIError(.badTrack, "\(name) is a picture whose size cannot be read, or is smaller than its grid")
            }
            let count = Double(grid.columns * grid.rows)
            let least = ThumbnailTrack.leastInterval
            let interval = request.interval?.value ?? max(duration / count, least)
            guard interval >= least, interval <= 1e6 else {
                throw APIError(.badRequest, "interval is not a number of seconds from \(least) to 1000000")
            }
            let track = ThumbnailTrack(sheet: name, size: size, grid: grid, interval: interval, length: duration)
            return (track, [sheet])
        }
        guard !ThumbnailTrack.isPicture(name) else {
            throw APIError(.badTrack, "\(name) is no JPEG, PNG or WebP image of at most 4 MB")
        }
        let track = try await inLane(about: request.path) { turn throws(APIError) in
            do throws(SubtitleError) {
                return try ThumbnailTrack(CueFile(bytes) { turn.mayGoOn })
            } catch {
                throw APIError(.badTrack, "\(name) cannot be attached as thumbnails: \(error)")
            }
        }
        guard track.names.count <= pictureLimit else {
            throw APIError(.badTrack, "\(name) names more than \(pictureLimit) pictures")
        }
        let folder = request.path.dropLast(name.count)
        var pictures: [Artwork] = []
        var size = 0
        for picture in track.names {
            guard let artwork = Artwork(try await read(folder + picture, limit: Artwork.limit)) else {
                throw APIError(
                    .badTrack, "\(picture), which \(name) names, is no JPEG, PNG or WebP image of at most 4 MB")
            }
            size += artwork.bytes.count
            if Task.isCancelled {
                throw givenUp(request.path)
            }
            guard size <= picturesLimit else {
                let most = Quantity.bytes(Int(picturesLimit))
                throw APIError(.badTrack, "the pictures of \(name) have more than \(most) in all")
            }
            pictures.append(artwork)
        }
        return (track, pictures)
    }

    private static func grid(_ text: String?, of name: String) throws(APIError) -> (columns: Int, rows: Int) {
        let words = (text ?? "").split(separator: "x", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }
        guard words.count == 2, numbers.count == 2, numbers.allSatisfy({ (1...100).contains($0) }) else {
            throw APIError(
                .badTrack, "\(name) is one picture, and its grid is not known",
                next: "give the columns and rows of its images: --tiles 10x10")
        }
        return (numbers[0], numbers[1])
    }

    // MARK: The disk

    /// Reads a whole file of the user's on another thread.
    private static func read(_ path: String, limit: Int) async throws(APIError) -> [UInt8] {
        do throws(StoreError) {
            return try await DiskWork.run { () throws(StoreError) in
                // A pipe would block.
                let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard file >= 0 else {
                    throw StoreError(.missing, path: path, detail: String(cString: strerror(errno)))
                }
                defer { close(file) }
                var status = stat()
                guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    throw StoreError(.missing, path: path, detail: "it is no file")
                }
                guard status.st_size <= limit else {
                    let most = Quantity.bytes(Int(limit))
                    throw StoreError(.wrongLength, path: path, detail: "it is longer than \(most)")
                }
                return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, used in
                    used = max(0, pread(file, buffer.baseAddress, Int(status.st_size), 0))
                }
            }
        } catch {
            throw APIError(
                .badTrack, "\(path) cannot be read by the daemon: \(error.detail ?? "\(error)")",
                next: "give a file that the daemon's user may read")
        }
    }
}
