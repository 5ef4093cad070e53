import HLS
import Orders

/// Chooses the EXT-X-MEDIA renditions of one type for a variant.
struct MediaChoice {
    let chosen: [Media]

    init(
        _ selection: Selection, of type: Media.Kind, for variant: Variant, in playlist: MultivariantPlaylist
    ) throws(Selection.NoMatch) {
        let members = playlist.members(of: variant.group(type), type)
        let preferences = selection.wishes
        let wanted: [Media]
        switch selection.choice(of: type) {
        case .nothing: wanted = []
        case .all: wanted = members
        case .default: wanted = Self.automatic(members, preferences).map { [$0] } ?? []
        case .auto where type == .subtitles: wanted = Self.shown(members, preferences)
        case .auto: wanted = Self.automatic(members, preferences).map { [$0] } ?? []
        case .languages(let languages): wanted = try Self.members(of: members, in: languages, type)
        }
        let isEvery = selection.audio == .all
        guard type == .audio, preferences.prefersMultichannel == true || !isEvery else {
            chosen = wanted
            return
        }
        let related = preferences.prefersMultichannel == true ? playlist.groups(besides: variant) : []
        var all: [Media] = []
        for member in wanted.flatMap({ (isEvery ? [$0] : []) + Self.layouts($0, members, related, preferences) })
        where !all.contains(where: { $0.index == member.index }) {
            all.append(member)
        }
        chosen = all
    }

    // MARK: Languages

    private static func members(
        of members: [Media], in languages: [String], _ type: Media.Kind
    ) throws(Selection.NoMatch) -> [Media] {
        var chosen: [Media] = []
        for language in languages {
            let spoken = members.filter { $0.speaks(language) }
            // Forced subtitles translate signs only, and a described sound is for the blind.
            guard let member = spoken.first(where: { !$0.isSpecial }) ?? spoken.first else {
                let kind = type == .audio ? "sound" : "subtitles"
                let there = VariantChoice.list(members.map { $0.language ?? $0.name })
                throw Selection.NoMatch(description: "no \(kind) in \"\(language)\"; there \(there)")
            }
            chosen.append(member)
        }
        return chosen
    }

    /// The locale's language counts only for AUTOSELECT (RFC 8216 §4.3.4.1); a requested one always.
    private static func automatic(_ members: [Media], _ preferences: Selection.Preferences) -> Media? {
        for range in (preferences.languages ?? []).flatMap(LanguageRanges.of) {
            if let member = defaultMember(members.filter { $0.speaks(range) }) {
                return member
            }
        }
        for range in preferences.locale.map(LanguageRanges.of) ?? [] {
            if let member = defaultMember(members.filter { $0.isAutoselect && $0.speaks(range) }) {
                return member
            }
        }
        return defaultMember(members)
    }

    /// The subtitles that players show unasked.
    private static func shown(_ members: [Media], _ preferences: Selection.Preferences) -> [Media] {
        let forced = preferences.spoken.lazy.compactMap { range in members.first { $0.isForced && $0.speaks(range) } }
            .first
        let isDefault = members.first(where: \.isDefault)
        return [isDefault, forced?.index == isDefault?.index ? nil : forced].compactMap { $0 }
    }

    /// Forced subtitles and renditions that describe the video come after the ordinary ones.
    private static func defaultMember(_ members: [Media]) -> Media? {
        members.first(where: \.isDefault) ?? members.first { $0.isAutoselect && !$0.isSpecial }
            ?? members.first(where: \.isAutoselect) ?? members.first
    }

    // MARK: Channels

    /// The layout with the most channels and a stereo one; for a fast download the one with the fewest channels; otherwise
    /// stereo, if the member has more.
    private static func layouts(
        _ member: Media, _ members: [Media], _ related: [Media], _ preferences: Selection.Preferences
    ) -> [Media] {
        let same = members.filter { $0.isAlternative(to: member) }
        guard preferences.prefersMultichannel == true || preferences.isFast == true else {
            return [member.channelCount > 2 ? plain(same) ?? member : member]
        }
        guard preferences.prefersMultichannel == true else {
            return [same.filter { $0.channelCount > 0 }.min { $0.channelCount < $1.channelCount } ?? member]
        }
        let rich = same.max { $0.channelCount < $1.channelCount } ?? member
        guard rich.channelCount > 2 else { return [member] }
        let elsewhere = related.filter { $0.isAlternative(to: member) }
        return [rich] + [plain(same + elsewhere)].compactMap { $0 }
    }

    /// The first stereo or mono layout. One without CHANNELS counts if there is no other: an old packager leaves it out.
    private static func plain(_ layouts: [Media]) -> Media? {
        layouts.first { (1...2).contains($0.channelCount) } ?? layouts.first { $0.channelCount == 0 }
    }
}

extension Selection {
    /// The rule for the renditions of a type, with what a request leaves out.
    fileprivate func choice(of type: Media.Kind) -> Choice {
        type == .audio ? audio ?? .default : subtitles ?? .auto
    }
}

enum LanguageRanges {
    /// Returns the tag and its shortened forms (RFC 4647 §3.4): `zh-hant-tw`, `zh-hant`, `zh`.
    static func of(_ tag: String) -> [String] {
        var subtags = tag.split(separator: "-")
        var ranges: [String] = []
        while !subtags.isEmpty {
            ranges.append(subtags.joined(separator: "-"))
            subtags.removeLast()
            // A single-letter subtag has no meaning without the one after it.
            if subtags.last?.utf8.count == 1 {
                subtags.removeLast()
            }
        }
        return ranges
    }
}

extension MultivariantPlaylist {
    func members(of group: String?, _ type: Media.Kind) -> [Media] {
        group.map { group in media.filter { $0.type == type && $0.groupID == group } } ?? []
    }

    fileprivate func groups(besides variant: Variant) -> [Media] {
        variants.filter { $0.renditionIndex == variant.renditionIndex && $0.audio != variant.audio }
            .flatMap { members(of: $0.audio, .audio) }
    }
}

extension Selection.Preferences {
    /// The user's languages, the most preferred first, each followed by its shortened forms.
    fileprivate var spoken: [String] {
        ((languages ?? []) + [locale].compactMap(\.self)).flatMap(LanguageRanges.of)
    }

    /// True if nothing is known of the user's languages.
    var isWithoutLanguage: Bool { (languages ?? []).isEmpty && locale == nil }
}

extension Media {
    /// True if it is in one of the user's languages, or nothing is known of these.
    func isSpoken(by preferences: Selection.Preferences) -> Bool {
        preferences.isWithoutLanguage || preferences.spoken.contains(where: speaks)
    }

    /// True if the rendition is in a language, by RFC 4647's basic filtering, or has this name.
    func speaks(_ wanted: String) -> Bool {
        let tag = (language ?? "").lowercased()
        let wanted = wanted.lowercased()
        return tag == wanted || tag.hasPrefix(wanted + "-") || name.lowercased() == wanted
    }

    fileprivate var isSpecial: Bool { isForced || describesVideo }

    private var describesVideo: Bool {
        (characteristics ?? "").split(separator: ",").contains { $0.hasSuffix("accessibility.describes-video") }
    }

    /// True for equal audio apart from channels and codec. Names differ within a group (RFC 8216 §4.3.4.1.1).
    fileprivate func isAlternative(to other: Media) -> Bool {
        language?.lowercased() == other.language?.lowercased() && isAutoselect == other.isAutoselect
            && describesVideo == other.describesVideo && (language != nil || name == other.name)
    }
}
