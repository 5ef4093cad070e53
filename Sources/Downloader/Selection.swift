public import Playlist

/// What a download was asked for: one variant, and renditions of its groups.
public struct Selection: Equatable, Sendable {
    /// Which variant.
    public enum Quality: Equatable, Sendable {
        /// The highest bandwidth.
        case best
        /// The lowest bandwidth.
        case worst
        /// Exactly so many pixels down; of several such, the highest bandwidth.
        case height(Int)
        /// At most so many pixels down; of several such, the highest bandwidth. Sound alone is within any height.
        case heightAtMost(Int)
        /// The lowest bandwidth at or above so many bits a second, else the highest.
        case minimumBandwidth(Int)
    }

    /// Which renditions of a group.
    public enum Choice: Equatable, Sendable {
        /// The one that players choose by themselves: DEFAULT, else AUTOSELECT, else the first.
        case `default`
        /// Every one.
        case all
        /// None.
        case none
        /// Those in these languages (RFC 5646 tags; `en` also takes `en-GB`), in this order.
        case languages([String])
    }

    /// Which variant.
    public var quality: Quality
    /// Which audio renditions.
    public var audio: Choice
    /// Which subtitle renditions.
    public var subtitles: Choice

    /// A selection; the best variant with its default audio unless told otherwise.
    public init(quality: Quality = .best, audio: Choice = .default, subtitles: Choice = .none) {
        self.quality = quality
        self.audio = audio
        self.subtitles = subtitles
    }

    /// Nothing fits: what was wanted, and what there is.
    public struct NoMatch: Error, Equatable, Sendable, CustomStringConvertible {
        /// A sentence for a user.
        public let description: String
    }

    /// The media playlists that the selection needs, as places in `MultivariantPlaylist.renditionURIs`, the variant's own
    /// first; each once.
    public func renditions(of playlist: MultivariantPlaylist) throws(NoMatch) -> [Int] {
        let variant = try variant(of: playlist)
        var places = [variant.renditionIndex]
        for place in try members(.audio, audio, of: variant, in: playlist) where !places.contains(place) {
            places.append(place)
        }
        for place in try members(.subtitles, subtitles, of: variant, in: playlist) where !places.contains(place) {
            places.append(place)
        }
        return places
    }

    // MARK: The variant

    /// The variant that is chosen. Variants without a picture count only where no variant has one.
    public func variant(of playlist: MultivariantPlaylist) throws(NoMatch) -> Variant {
        let pictured = playlist.variants.filter { $0.resolution != nil }
        let all = (pictured.isEmpty ? playlist.variants : pictured).sorted { Self.rank($0) < Self.rank($1) }
        let chosen: Variant? =
            switch quality {
            case .best: all.last
            case .worst: all.first
            case .height(let height): all.last { $0.resolution?.height == height }
            case .heightAtMost(let height): all.last { ($0.resolution?.height ?? 0) <= height }
            case .minimumBandwidth(let least): all.first { $0.bandwidth >= least } ?? all.last
            }
        guard let chosen else {
            throw NoMatch(description: "no variant is \(wantedQuality); there are \(Self.list(all.map(Self.words)))")
        }
        return chosen
    }

    private static func rank(_ variant: Variant) -> (Int, Int) { (variant.bandwidth, variant.resolution?.height ?? 0) }

    private var wantedQuality: String {
        switch quality {
        case .height(let height): "\(height)p"
        case .heightAtMost(let height): "at most \(height)p"
        default: "there"
        }
    }

    private static func words(_ variant: Variant) -> String {
        let rate = "\(Double(variant.bandwidth / 10_000) / 100) Mb/s"
        return variant.resolution.map { "\($0.height)p (\(rate))" } ?? rate
    }

    // MARK: Renditions

    private func members(
        _ type: Media.Kind, _ choice: Choice, of variant: Variant, in playlist: MultivariantPlaylist
    ) throws(NoMatch) -> [Int] {
        let members =
            variant.group(type).map { id in playlist.media.filter { $0.type == type && $0.groupID == id } } ?? []
        let chosen: [Media]
        switch choice {
        case .none: return []
        case .all: chosen = members
        case .default: chosen = Self.automatic(members).map { [$0] } ?? []
        case .languages(let languages): chosen = try Self.members(of: members, in: languages, type)
        }
        return chosen.compactMap(\.renditionIndex)
    }

    private static func automatic(_ members: [Media]) -> Media? {
        members.first(where: \.isDefault) ?? members.first(where: \.isAutoselect) ?? members.first
    }

    private static func members(
        of members: [Media], in languages: [String], _ type: Media.Kind
    ) throws(NoMatch) -> [Media] {
        var chosen: [Media] = []
        for language in languages {
            guard let member = members.first(where: { $0.speaks(language) }) else {
                let kind = type == .audio ? "sound" : "subtitles"
                let there = members.isEmpty ? "none" : list(members.map { $0.language ?? $0.name })
                throw NoMatch(description: "no \(kind) in \"\(language)\"; there is \(there)")
            }
            chosen.append(member)
        }
        return chosen
    }

    private static func list(_ words: [String]) -> String {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }.joined(separator: ", ")
    }
}

extension Media {
    /// Whether it is in a language, by RFC 4647's basic filtering; or has this name.
    fileprivate func speaks(_ wanted: String) -> Bool {
        let own = (language ?? "").lowercased()
        let wanted = wanted.lowercased()
        return own == wanted || own.hasPrefix(wanted + "-") || name.lowercased() == wanted
    }
}
