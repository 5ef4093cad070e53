/// Checks the media playlists of one presentation against each other and against the multivariant playlist (RFC 8216 §6.2.4).
struct PresentationCheck {
    let multivariant: MultivariantPlaylist
    let media: [Int: MediaPlaylist]

    func checkReferences(
        _ multivariants: Set<Int>, url: String, resolving: (String) -> String?, _ findings: inout Findings
    ) {
        for (index, uri) in multivariant.renditionURIs.enumerated() {
            if resolving(uri) == url {
                findings.add(.selfReference, line: line(of: index), "the playlist lists itself as a rendition")
            } else if multivariants.contains(index) {
                findings.add(
                    .notMedia, line: line(of: index), "the URI returns a multivariant playlist, not a media playlist")
            }
        }
    }

    func run(_ findings: inout Findings) {
        checkIFrames(&findings)
        let iFrames = Set(multivariant.iFrameVariants.map(\.renditionIndex))
        let texts = Set(media.keys.filter { isText($0) })
        // Subtitles have longer segments. They are compared with the other media, and not the reverse.
        let indices = media.keys.filter { !iFrames.contains($0) && !texts.contains($0) }.sorted() + texts.sorted()
        guard let first = indices.first, let reference = media[first] else { return }
        for index in indices.dropFirst() {
            if let playlist = media[index] {
                compare(playlist, at: index, with: reference, at: first, &findings)
            }
        }
        for variant in multivariant.variants {
            checkPeak(of: variant, &findings)
        }
    }

    private func compare(
        _ playlist: MediaPlaylist, at index: Int, with reference: MediaPlaylist, at first: Int,
        _ findings: inout Findings
    ) {
        let line = line(of: index)
        var other = "in another playlist"
        if let otherLine = self.line(of: first) {
            other = "in line \(otherLine)"
        }
        func report(_ rule: CheckRule, _ message: String) {
            findings.add(rule, line: line, "\(message) \(other)")
        }

        if let own = playlist.targetDuration, let other = reference.targetDuration, own != other, !isText(index) {
            report(.targetDurationsDiffer, "the target duration is \(own) s, but \(other) s")
        }
        if playlist.playlistType != reference.playlistType || playlist.hasEndList != reference.hasEndList {
            report(.typesDiffer, "EXT-X-PLAYLIST-TYPE or EXT-X-ENDLIST differs from the playlist")
        }
        let isDated = hasDates(playlist)
        if isDated != hasDates(reference), !playlist.segments.isEmpty, !reference.segments.isEmpty {
            let state = isDated ? "present" : "missing"
            report(.datesDiffer, "EXT-X-PROGRAM-DATE-TIME is \(state), unlike")
        }

        guard playlist.hasEndList, reference.hasEndList else { return }
        let target = playlist.targetDuration ?? 0
        let otherTarget = reference.targetDuration ?? 0
        let slack = Double(max(target, otherTarget, 1))
        if playlist.duration.distance(from: reference.duration) > slack {
            report(
                .durationsDiffer,
                "the rendition lasts \(rounded(playlist.duration)) s, but \(rounded(reference.duration)) s")
        }
        if discontinuities(playlist) != discontinuities(reference), !isText(index) {
            report(.discontinuitiesDiffer, "the discontinuities differ from the playlist")
        }
    }

    private func checkIFrames(_ findings: inout Findings) {
        for variant in multivariant.iFrameVariants {
            guard let playlist = media[variant.renditionIndex], !playlist.isIFramesOnly else { continue }
            findings.add(.iFrames, line: variant.line, "the I-frame playlist has no EXT-X-I-FRAMES-ONLY")
        }
        for variant in multivariant.variants where media[variant.renditionIndex]?.isIFramesOnly ?? false {
            findings.add(.iFrames, line: variant.line, "the variant's playlist has EXT-X-I-FRAMES-ONLY")
        }
    }

    /// Byte ranges give sizes without any request.
    private func checkPeak(of variant: Variant, _ findings: inout Findings) {
        guard variant.bandwidth > 0, let playlist = media[variant.renditionIndex] else { return }
        let target = Double(playlist.targetDuration ?? 0)
        let peak = playlist.segments.reduce(BitRate.zero) { peak, segment in
            // Segments shorter than half the target duration do not count for the peak (RFC 8216 §4.3.4.2).
            guard let range = segment.byteRange, segment.duration.seconds >= max(target / 2, 0.1) else { return peak }
            return max(peak, BitRate(of: range.size, in: segment.duration))
        }
        if Double(peak) > Double(variant.bandwidth) * 1.1, peak < .largest {
            findings.add(
                .peakOverBandwidth, line: variant.line,
                "a segment has \(Int(peak)) bits per second, but BANDWIDTH is \(Int(variant.bandwidth))")
        }
    }

    private func hasDates(_ playlist: MediaPlaylist) -> Bool {
        playlist.segments.contains { $0.programDateTime != nil }
    }

    private func discontinuities(_ playlist: MediaPlaylist) -> [Int] {
        [Int(playlist.discontinuitySequence), playlist.segments.count { $0.isDiscontinuity }]
    }

    private func isText(_ index: Int) -> Bool {
        multivariant.media.contains { $0.renditionIndex == index && $0.type == .subtitles }
    }

    private func rounded(_ duration: MediaDuration) -> Double { Double(duration.tenths) / 10 }
    private func line(of index: Int) -> Int? { multivariant.line(ofRendition: index) }
}

extension MultivariantPlaylist {
    /// Returns the first line, from 1, that names the rendition at an index in `renditionURIs`; nil without one.
    public func line(ofRendition index: Int) -> Int? {
        variants.first { $0.renditionIndex == index }?.uriLine
            ?? media.first { $0.renditionIndex == index }?.line
            ?? iFrameVariants.first { $0.renditionIndex == index }?.line
    }
}
