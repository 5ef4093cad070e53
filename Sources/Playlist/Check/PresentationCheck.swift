/// The media playlists of one presentation against each other and against what names them (RFC 8216 §6.2.4).
struct PresentationCheck {
    let multivariant: MultivariantPlaylist
    let media: [Int: MediaPlaylist]

    /// Looks at what URIs lead to.
    func checkReferences(
        _ multivariants: Set<Int>, url: String, resolving: (String) -> String?, _ findings: inout Findings
    ) {
        for (place, uri) in multivariant.renditionURIs.enumerated() {
            if resolving(uri) == url {
                findings.add(
                    .selfReference, line: line(of: place), "the playlist names itself as one of its renditions")
            } else if multivariants.contains(place) {
                findings.add(.notMedia, line: line(of: place), "the URI leads to another multivariant playlist")
            }
        }
    }

    /// Compares the playlists.
    func run(_ findings: inout Findings) {
        checkIFrames(&findings)
        let iFrames = Set(multivariant.iFrameVariants.map(\.renditionIndex))
        let texts = Set(media.keys.filter { isText($0) })
        // Subtitles come in longer segments, and are compared with the rest, not the rest with them.
        let places = media.keys.filter { !iFrames.contains($0) && !texts.contains($0) }.sorted() + texts.sorted()
        guard let first = places.first, let reference = media[first] else { return }
        for place in places.dropFirst() {
            if let playlist = media[place] { compare(playlist, place, reference, first, &findings) }
        }
        for variant in multivariant.variants { checkPeak(of: variant, &findings) }
    }

    private func compare(
        _ playlist: MediaPlaylist, _ place: Int, _ reference: MediaPlaylist, _ first: Int, _ findings: inout Findings
    ) {
        let line = line(of: place)
        func tell(_ rule: CheckRule, _ message: String) {
            findings.add(rule, line: line, message + (self.line(of: first).map { " than in line \($0)" } ?? ""))
        }
        if let own = playlist.targetDuration, let other = reference.targetDuration, own != other, !isText(place) {
            tell(.targetDurationsDiffer, "the target duration is \(own) s, another")
        }
        if playlist.playlistType != reference.playlistType || playlist.hasEndList != reference.hasEndList {
            tell(.typesDiffer, "another EXT-X-PLAYLIST-TYPE or EXT-X-ENDLIST")
        }
        let dates = (hasDates(playlist), hasDates(reference))
        if dates.0 != dates.1, !playlist.segments.isEmpty, !reference.segments.isEmpty {
            tell(.datesDiffer, "EXT-X-PROGRAM-DATE-TIME is \(dates.0 ? "there" : "missing"), otherwise")
        }
        guard playlist.hasEndList, reference.hasEndList else { return }
        let slack = Double(max(playlist.targetDuration ?? 0, reference.targetDuration ?? 0, 1))
        if abs(playlist.duration - reference.duration) > slack {
            tell(.durationsDiffer, "the rendition lasts \(rounded(playlist.duration)) s, another time")
        }
        if discontinuities(playlist) != discontinuities(reference), !isText(place) {
            tell(.discontinuitiesDiffer, "other discontinuities")
        }
    }

    private func checkIFrames(_ findings: inout Findings) {
        for variant in multivariant.iFrameVariants {
            guard let playlist = media[variant.renditionIndex], !playlist.isIFramesOnly else { continue }
            findings.add(.iFrames, line: variant.line, "the playlist has no EXT-X-I-FRAMES-ONLY")
        }
        for variant in multivariant.variants where media[variant.renditionIndex]?.isIFramesOnly ?? false {
            findings.add(.iFrames, line: variant.line, "the variant's playlist has EXT-X-I-FRAMES-ONLY")
        }
    }

    /// Byte ranges tell sizes without asking for anything.
    private func checkPeak(of variant: Variant, _ findings: inout Findings) {
        guard variant.bandwidth > 0, let playlist = media[variant.renditionIndex] else { return }
        let target = Double(playlist.targetDuration ?? 0)
        let peak = playlist.segments.reduce(0) { peak, segment in
            // Shorter segments than half a target duration do not count for the peak (RFC 8216 §4.3.4.2).
            guard let range = segment.byteRange, segment.duration >= max(target / 2, 0.1) else { return peak }
            return max(peak, Double(range.length) * 8 / segment.duration)
        }
        if peak > Double(variant.bandwidth) * 1.1, peak < 1e15 {
            findings.add(
                .peakOverBandwidth, line: variant.line,
                "a segment has \(Int(peak)) bits a second, BANDWIDTH is \(variant.bandwidth)")
        }
    }

    private func hasDates(_ playlist: MediaPlaylist) -> Bool {
        playlist.segments.contains { $0.programDateTime != nil }
    }

    private func discontinuities(_ playlist: MediaPlaylist) -> [Int] {
        [playlist.discontinuitySequence, playlist.segments.count { $0.isDiscontinuity }]
    }

    private func isText(_ place: Int) -> Bool {
        multivariant.media.contains { $0.renditionIndex == place && $0.type == .subtitles }
    }

    private func rounded(_ seconds: Double) -> Double { Double(Int(seconds * 10 + 0.5)) / 10 }

    private func line(of place: Int) -> Int? { multivariant.line(ofRendition: place) }
}

extension MultivariantPlaylist {
    /// The first line, counted from 1, that names the rendition at a place among `renditionURIs`; nil for no such
    /// place.
    public func line(ofRendition place: Int) -> Int? {
        variants.first { $0.renditionIndex == place }?.uriLine
            ?? media.first { $0.renditionIndex == place }?.line
            ?? iFrameVariants.first { $0.renditionIndex == place }?.line
    }
}
