import ArgumentParser
import Orders

/// The options that choose tracks, of every command that reaches an origin.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: [.customShort("q"), .long],
        help: """
            best, worst, 720p, <=1080p, or 2M or 265000 for the lowest with at least so many bits per second; or a list, of which \
            the first that is there counts: 720p,best. Default: the best, unless a minimum or --fast is given; of an asset that has a \
            download, the same as before.
            """, transform: Self.reader(.quality))
    var quality: String?
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            """
            A condition that the variant must meet: peak, average, width, height, fps, channels, range or codec, with <=, >=, <, \
            >, = or !=, such as 'height<=1080', 'peak<=5M', range=SDR, 'codec!=hvc1'. May be repeated.
            """, valueName: "condition"),
        transform: Self.reader(.conditions))
    var conditions: [String] = []
    @Option(
        help: """
            default, all, none, or languages such as en,ja. Without this option: default, what a player would choose for you; of an \
            asset that has a download, the same as before.
            """, transform: Self.reader(.audio))
    var audio: String?
    @Option(
        help: """
            none, all, auto, default, or languages such as en,ja. Without this option: auto, those that players show unasked.
            """, transform: Self.reader(.subtitles))
    var subs: String?
    @Option(
        help: ArgumentHelp(
            "The lowest variant of at least this bit rate (2M, 800k), else the highest.", valueName: "rate"),
        transform: Self.reader(.minimumBitRate))
    var minBitrate: String?
    @Option(
        help: ArgumentHelp(
            "The lowest variant of at least this size (1280x720, 720p), else the highest.", valueName: "size"),
        transform: Self.reader(.minimumSize))
    var minSize: String?
    @Flag(name: .customLong("prefer-hdr"), inversion: .prefixedNo, help: "Prefer HDR to SDR.")
    var prefersHDR: Bool?
    @Flag(
        name: .customLong("prefer-multichannel"), inversion: .prefixedNo,
        help: "Prefer more than stereo; stereo is stored as well.")
    var prefersMultichannel: Bool?
    @Option(
        help: ArgumentHelp("Preferred codecs, best first, such as avc1,hvc1.", valueName: "list"),
        transform: Self.reader(.codecs))
    var codecs: String?
    @Option(
        help: ArgumentHelp(
            "Preferred languages for default, best first, such as ja,en; then the locale's.", valueName: "list"),
        transform: Self.reader(.languages))
    var languages: String?
    @Flag(inversion: .prefixedNo, help: "Prefer the fastest download that meets the other options to the best quality.")
    var fast: Bool?

    func validate() throws {
        if let contradiction = selection(environment: [:]).contradiction {
            throw ValidationError(contradiction)
        }
    }

    /// True if the user gave any of the options.
    var areGiven: Bool { selection(environment: [:]) != Selection() }

    /// The selection. What it leaves out is decided by the daemon's configuration.
    ///
    /// - Parameter environment: the command's environment, for the user's language; the daemon's may differ.
    func selection(environment: [String: String]) -> Selection {
        var selection = Selection()
        for (key, values) in given {
            // Each value was read once when the command line was parsed.
            try? key.set(values, in: &selection)
        }
        selection.wishes.locale = UserLanguage.tag(environment: environment)
        return selection
    }

    /// The given options, with their values.
    var given: [(key: Selection.Key, values: [String])] {
        var given: [(key: Selection.Key, values: [String])] = []
        for key in Selection.playingKeys {
            if let values = values(of: key) {
                given.append((key, values))
            }
        }
        return given
    }

    /// The values of an option; nil if the user did not give it.
    private func values(of key: Selection.Key) -> [String]? {
        switch key {
        case .quality: quality.map { [$0] }
        case .conditions where conditions.isEmpty: nil
        case .conditions: conditions
        case .audio: audio.map { [$0] }
        case .subtitles: subs.map { [$0] }
        case .minimumBitRate: minBitrate.map { [$0] }
        case .minimumSize: minSize.map { [$0] }
        case .prefersHDR: prefersHDR.map { ["\($0)"] }
        case .prefersMultichannel: prefersMultichannel.map { ["\($0)"] }
        case .codecs: codecs.map { [$0] }
        case .languages: languages.map { [$0] }
        case .isFast: fast.map { ["\($0)"] }
        // They are in `ExtrasOptions`.
        case .keepsInterstitials, .keepsTrickPlay: nil
        }
    }

    /// A transform that checks a value and keeps its text.
    private static func reader(_ key: Selection.Key) -> @Sendable (String) throws -> String {
        { text in
            var selection = Selection()
            guard !text.isEmpty else { throw ValidationError("the value is empty") }
            do throws(Selection.Key.Mistake) {
                try key.set([text], in: &selection)
            } catch {
                throw ValidationError(error.description)
            }
            return text
        }
    }
}

/// The options for what is saved beside the chosen tracks.
struct ExtrasOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo, help: "Store the interstitials that the playlists name as well, such as advertisements."
    )
    var interstitials: Bool?
    @Flag(
        name: .customLong("trick-play"), inversion: .prefixedNo,
        help: "Store the playlist of I-frames for fast seeking as well.")
    var trickPlay: Bool?

    var areGiven: Bool { interstitials != nil || trickPlay != nil }

    /// A selection with these options.
    func added(to selection: Selection) -> Selection {
        var all = selection
        all.wishes.keepsInterstitials = interstitials
        all.wishes.keepsTrickPlay = trickPlay
        return all
    }
}

/// The options of a further selection in `--also`.
struct FurtherOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var extras: ExtrasOptions
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
