package import API
import ArgumentParser

extension API.Choice: ExpressibleByArgument {}
extension API.Size: ExpressibleByArgument {}

/// The options that select tracks, shared by all commands with a selection.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: [.customShort("q"), .long],
        help: """
            best, worst, 720p, <=1080p, or 2M or 265000 for the lowest with at least so many bits per second. Default: the \
            best, unless a minimum or --fast is given.
            """, transform: Self.quality)
    var quality: API.Quality?
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            """
            A condition that the variant must meet: peak, average, width, height, fps, channels, range or codec, with <=, >=, <, \
            >, = or !=, such as 'height<=1080', 'peak<=5M', range=SDR, 'codec!=hvc1'. May be repeated.
            """, valueName: "condition"),
        transform: Self.condition)
    var conditions: [API.Condition] = []
    @Option(
        help: """
            default, all, none, or languages such as en,ja. Without this option: default, what a player would choose for you.
            """)
    var audio: API.Choice?
    @Option(
        help: """
            none, all, auto, default, or languages such as en,ja. Without this option: auto, those that players show unasked.
            """)
    var subs: API.Choice?
    @Option(
        help: ArgumentHelp(
            "The lowest variant of at least this bit rate (2M, 800k), else the highest.", valueName: "rate"),
        transform: Self.bitRate)
    var minBitrate: Int?
    @Option(
        help: ArgumentHelp(
            "The lowest variant of at least this size (1280x720, 720p), else the highest.", valueName: "size"))
    var minSize: API.Size?
    @Flag(name: .customLong("prefer-hdr"), help: "Prefer HDR to SDR.")
    var prefersHDR = false
    @Flag(name: .customLong("prefer-multichannel"), help: "Prefer more than stereo; stereo is stored as well.")
    var prefersMultichannel = false
    @Option(
        help: ArgumentHelp("Preferred codecs, best first, such as avc1,hvc1.", valueName: "list"),
        transform: Self.codecList)
    var codecs: [String]?
    @Option(
        help: ArgumentHelp(
            "Preferred languages for default, best first, such as ja,en; then the locale's.", valueName: "list"),
        transform: Self.languageList)
    var languages: [String]?
    @Flag(help: "Prefer the fastest download that meets the other options to the best quality.")
    var fast = false

    func validate() throws {
        if let contradiction = request(for: "", environment: [:]).contradiction { throw ValidationError(contradiction) }
    }

    /// True if the user gave any of the options.
    var areGiven: Bool { request(for: "", environment: [:]) != API.DownloadRequest(source: "") }

    /// Creates a request for a source.
    ///
    /// - Parameter environment: the command's environment, for the user's language; the daemon's may differ.
    func request(for source: String, environment: [String: String]) -> API.DownloadRequest {
        var request = API.DownloadRequest(source: source, quality: quality, audio: audio, subtitles: subs)
        let preferences = preferences(environment)
        request.preferences = preferences == API.Preferences() ? nil : preferences
        request.conditions = conditions.isEmpty ? nil : conditions
        return request
    }

    private func preferences(_ environment: [String: String]) -> API.Preferences {
        var preferences = API.Preferences()
        preferences.minimumBitRate = minBitrate
        preferences.minimumSize = minSize
        preferences.prefersHDR = prefersHDR ? true : nil
        preferences.prefersMultichannel = prefersMultichannel ? true : nil
        preferences.codecs = codecs
        preferences.languages = languages
        preferences.locale = UserLanguage.tag(environment: environment)
        preferences.isFast = fast ? true : nil
        return preferences
    }

    // MARK: Reading

    private static func quality(_ text: String) throws -> API.Quality {
        if let quality = API.Quality(text) { return quality }
        if let height = API.Quality.meantHeight(text) {
            throw ValidationError("no variant has only \(text) bits per second: did you mean \(height)p?")
        }
        throw ValidationError("\"\(text)\" is not a quality such as best, worst, 720p, <=1080p, 2M or 265000")
    }

    private static func condition(_ text: String) throws -> API.Condition {
        do {
            return try API.Condition(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private static func bitRate(_ text: String) throws -> Int {
        guard case .minimumBandwidth(let rate)? = API.Quality(text) else {
            throw ValidationError("\"\(text)\" is not a bit rate such as 2M, 800k or 265000")
        }
        return rate
    }

    private static func codecList(_ text: String) throws -> [String] {
        let codecs = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard codecs.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw ValidationError("\"\(text)\" is not a list of codecs such as avc1,hvc1")
        }
        return codecs
    }

    private static func languageList(_ text: String) throws -> [String] {
        guard case .languages(let tags)? = API.Choice(text) else {
            throw ValidationError("\"\(text)\" is not a list of languages such as en,ja")
        }
        return tags
    }
}

/// The language in a user's environment.
enum UserLanguage {
    /// The RFC 5646 tag of the locale for messages (POSIX.1 §8.2: LC_ALL, else LC_MESSAGES, else LANG): `pt-BR` for
    /// `pt_BR.UTF-8`. Nil for `C` and `POSIX`, which have no language.
    static func tag(environment: [String: String]) -> String? {
        let values = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
        guard let locale = values.first(where: { !$0.isEmpty }) else { return nil }
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let subtags = name.split(whereSeparator: { $0 == "_" || $0 == "-" })
        guard let language = subtags.first, (2...3).contains(language.utf8.count), subtags.allSatisfy(isSubtag) else {
            return nil
        }
        return subtags.joined(separator: "-")
    }

    private static func isSubtag(_ text: Substring) -> Bool {
        text.utf8.count <= 8
            && text.utf8.allSatisfy { (97...122).contains($0 | 32) || (48...57).contains($0) }
    }
}
