import Assets
import HTTPMessage
import Orders

/// The resource that a player's URL names.
///
/// | path | meaning |
/// |---|---|
/// | `/https://host/path?query` | the asset at an origin URL, which may be percent-encoded as a whole |
/// | `/<name>.m3u8` | a known asset |
/// | `/weir.m3u` | a channel list of all assets and channels |
/// | `/listed/https://host/path` | the asset at a URL that a channel list names: its host must not be private |
/// | `/offline/…`, `/local/…` of either | the asset without the network, or only its complete renditions |
/// | `/timeshift/…` of either | the asset; a live stream begins with the earliest that is kept of it |
/// | `/auto/…` of either | the asset as one variant; Weir chooses the quality |
/// | `/select/<choice>/…` of each of these but `/auto/…` | only the chosen tracks: `/select/quality=720p&audio=de/<name>.m3u8` |
/// | `/a/<asset>/<session>/<rendition>/media.m3u8` | a rendition's playlist |
/// | `/a/<asset>/<session>/<rendition, keys or data>/<n>.<ext>` | a resource |
/// | `/a/<asset>/<session>/interstitials/<n>.m3u8` or `.json` | an interstitial asset, or a list of them |
enum Route: Equatable {
    case origin(String, mode: Session.Mode, choice: Selection? = nil)
    case entry(name: String, mode: Session.Mode, choice: Selection? = nil)
    /// An entry with a choice that cannot be read, or has no effect; the reason is a sentence.
    case badChoice(String)
    /// An origin's URL that the user did not give.
    case listed(String)
    case channels
    case playlist(asset: String, session: Session, rendition: String)
    case interstitial(asset: String, session: Session, name: Interstitials.Name)
    case piece(asset: String, session: Session, folder: String, file: String)

    static let playlistFile = "media.m3u8"

    /// True if it names a media playlist in the folder of its rendition.
    var isInFolder: Bool {
        switch self {
        case .playlist: true
        case .origin, .entry, .badChoice, .listed, .channels, .interstitial, .piece: false
        }
    }

    /// Parses a request target; nil if it is not a player's URL.
    static let listedPrefix = "/listed/"

    init?(target: ArraySlice<UInt8>) {
        if Self.isURL(target, behind: Array(Self.listedPrefix.utf8)) {
            self = .listed(Self.url(target.dropFirst(Self.listedPrefix.utf8.count)))
        } else if target.starts(with: "/a/".utf8) {
            self.init(inside: target)
        } else if let (choice, entry) = Self.choice(in: target) {
            self.init(choice, of: Route(target: entry))
        } else if let prefix = Self.prefixes.first(where: { Self.isURL(target, behind: $0.text) }) {
            self = .origin(Self.url(target.dropFirst(prefix.text.count)), mode: prefix.mode)
        } else {
            self.init(named: target.prefix { $0 != UInt8(ascii: "?") })
        }
    }

    private init?(inside target: ArraySlice<UInt8>) {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // A player may leave it to the server to resolve a key's URI.
        if parts.count == 8, parts[5].elementsEqual("..".utf8) {
            parts.removeSubrange(4...5)
        }
        guard parts.count == 6, let session = Session(id: Self.text(parts[3])) else { return nil }
        let asset = Self.text(parts[2])
        let folder = Self.text(parts[4])
        let file = Self.text(parts[5])
        if folder == Interstitials.folder, let name = Interstitials.Name(file) {
            self = .interstitial(asset: asset, session: session, name: name)
        } else if file == Self.playlistFile {
            self = .playlist(asset: asset, session: session, rendition: folder)
        } else {
            self = .piece(asset: asset, session: session, folder: folder, file: file)
        }
    }

    private init?(named path: ArraySlice<UInt8>) {
        if path.elementsEqual("/weir.m3u".utf8) {
            self = .channels
            return
        }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map(
            Self.text)
        guard let file = parts.last, file.hasSuffix(".m3u8") else { return nil }
        let word = String(file.dropLast(5))
        let name = PercentEncoding.decode(word) ?? word
        switch (parts.count, parts[0]) {
        case (1, _): self = .entry(name: name, mode: .auto)
        case (2, "offline"): self = .entry(name: name, mode: .offline)
        case (2, "local"): self = .entry(name: name, mode: .local)
        case (2, "timeshift"): self = .entry(name: name, mode: .timeshift)
        case (2, "auto"): self = .entry(name: name, mode: .adaptive)
        default: return nil
        }
    }

    private static let choicePrefix = Array("/select/".utf8)

    /// The choice in front of an entry, and the target without it; nil for a target without a choice.
    private static func choice(in target: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, entry: ArraySlice<UInt8>)? {
        guard target.starts(with: choicePrefix) else { return nil }
        let rest = target.dropFirst(choicePrefix.count)
        let text = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let entry = rest.dropFirst(text.count)
        guard entry.first == UInt8(ascii: "/") else { return nil }
        return (text, entry)
    }

    private init?(_ choice: ArraySlice<UInt8>, of entry: Route?) {
        let text = PercentEncoding.decode(Self.text(choice)) ?? Self.text(choice)
        do throws(Selection.Key.Mistake) {
            let selection = try Selection(playing: text)
            switch entry {
            case .origin(_, mode: .adaptive, choice: nil), .entry(_, mode: .adaptive, choice: nil):
                self = .badChoice("/auto/ lets Weir choose the quality, so it has no choice in front of it")
            case .origin(let url, let mode, choice: nil): self = .origin(url, mode: mode, choice: selection)
            case .entry(let name, let mode, choice: nil): self = .entry(name: name, mode: mode, choice: selection)
            default: return nil
            }
        } catch {
            self = .badChoice(error.description)
        }
    }

    /// The path prefixes that can precede an origin URL.
    private static let prefixes: [(mode: Session.Mode, text: [UInt8])] = [
        (.auto, Array("/".utf8)), (.offline, Array("/offline/".utf8)), (.local, Array("/local/".utf8)),
        (.adaptive, Array("/auto/".utf8)), (.timeshift, Array("/timeshift/".utf8)),
    ]

    private static func isURL(_ target: ArraySlice<UInt8>, behind prefix: [UInt8]) -> Bool {
        target.starts(with: prefix) && isURL(target.dropFirst(prefix.count))
    }

    /// True if the text begins with any scheme. Unsupported schemes are reported later.
    private static func isURL(_ text: ArraySlice<UInt8>) -> Bool {
        let scheme = text.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        let rest = text.dropFirst(scheme.count)
        return !scheme.isEmpty && (rest.starts(with: ":/".utf8) || isEncodedColon(rest.prefix(3)))
    }

    private static func isEncodedColon(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.elementsEqual("%3A".utf8) || bytes.elementsEqual("%3a".utf8)
    }

    /// Restores the double slash. Players that normalize paths turn `http://host` into `http:/host`.
    private static func url(_ bytes: ArraySlice<UInt8>) -> String {
        let sent = text(bytes)
        let text = PercentEncoding.decodeURL(sent) ?? sent
        guard let colon = text.firstIndex(of: ":") else { return text }
        let rest = text[text.index(after: colon)...]
        guard !rest.hasPrefix("//") else { return text }
        return text[...colon] + "/" + rest
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// One playback. It begins when a player loads an entry playlist, and its id is part of every URL in that playlist.
struct Session: Equatable {
    /// Decides if and how the origin is asked.
    enum Mode: Character {
        /// Missing resources are streamed from the origin while it can be reached.
        case auto = "a"
        /// The session never uses the network.
        case offline = "o"
        /// Only complete renditions are listed, if there are any; otherwise as `auto`.
        case local = "l"
        /// One variant is listed, and Weir chooses the quality of each of its segments; otherwise as `auto`.
        case adaptive = "v"

        /// A live stream begins with the earliest that is kept of it, and players can seek in all that is kept; otherwise as `auto`.
        case timeshift = "t"

        /// The mode to use if there is only one quality.
        var plain: Self { self == .adaptive ? .auto : self }
        /// True if the origin is asked for what is missing, and the player chooses the quality.
        var isOrdinary: Bool { plain == .auto || self == .timeshift }
    }

    /// The mode's letter and five random ones: the whole state of a session, which so survives a restart.
    let id: String
    let mode: Mode
    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")

    init(_ mode: Mode) {
        self.mode = mode
        id = String(mode.rawValue) + String((0..<5).compactMap { _ in Self.alphabet.randomElement() })
    }

    /// Parses a session id from a URL; nil if it is not valid.
    init?(id: String) {
        guard id.utf8.count == 6, let letter = id.first, let mode = Mode(rawValue: letter) else { return nil }
        self.id = id
        self.mode = mode
    }
}
