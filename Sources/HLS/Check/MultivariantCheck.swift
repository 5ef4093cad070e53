struct MultivariantCheck {
    let playlist: MultivariantPlaylist
    /// The text as written, without mends.
    let source: PlaylistText

    func run(_ findings: inout Findings) {
        if playlist.variants.isEmpty {
            findings.add(.noVariants, "the playlist has no variants")
        }
        for variant in playlist.variants {
            checkBandwidth(line: variant.line, peak: variant.bandwidth, average: variant.averageBandwidth, &findings)
            if variant.codecs.isEmpty {
                findings.add(.noCodecs, line: variant.line, "no CODECS: players must open the variant to detect them")
            }
        }
        for variant in playlist.iFrameVariants {
            checkBandwidth(line: variant.line, peak: variant.bandwidth, average: nil, &findings)
        }
        checkCodecs(&findings)
        checkScores(&findings)
        checkPathway(&findings)
        checkSessionData(&findings)
        checkStableIDs(&findings)
        checkVersion(&findings)
        MediaGroupCheck(playlist: playlist).run(&findings)
    }

    private func checkBandwidth(line: Int, peak: BitRate, average: BitRate?, _ findings: inout Findings) {
        guard findings.areTyped(["BANDWIDTH", "AVERAGE-BANDWIDTH"], line: line) else { return }
        if peak > 0, peak < 5_000 {
            findings.add(.bandwidth, line: line, "BANDWIDTH is in bits per second: \(Int(peak)) is too small for media")
        }
        if peak > 10_000_000_000 {
            findings.add(.bandwidth, line: line, "BANDWIDTH is in bits per second: \(Int(peak)) is too large for media")
        }
        if let average, peak > 0, average > peak {
            findings.add(.bandwidth, line: line, "AVERAGE-BANDWIDTH is larger than BANDWIDTH, the peak")
        }
    }

    /// CODECS must list the formats of all renditions that play together with the variant.
    private func checkCodecs(_ findings: inout Findings) {
        let groups = Set(playlist.media.filter { $0.type == .audio }.map(\.groupID))
        for variant in playlist.variants {
            guard let group = variant.attributes["AUDIO"], groups.contains(group), !variant.codecs.isEmpty else {
                continue
            }
            if variant.codecs.allSatisfy({ codec in Self.otherCodecs.contains { codec.hasPrefix($0) } }) {
                findings.add(
                    .incompleteCodecs, line: variant.line,
                    "CODECS has no format of the AUDIO group: players may prepare for video alone")
            }
        }
    }

    /// Formats of video and of text. A format that is not known here may be one of audio.
    private static let otherCodecs = [
        "avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "av01", "dav1", "vp08", "vp09", "vvc1", "vvi1",
        "mp4v", "stpp", "wvtt", "tx3g",
    ]

    private func checkScores(_ findings: inout Findings) {
        let without = playlist.variants.filter { $0.attributes["SCORE"] == nil }
        guard without.count < playlist.variants.count,
            let first = without.first(where: { findings.areTyped(["SCORE"], line: $0.line) })
        else { return }
        findings.add(.partialScore, line: first.line, "the variant has no SCORE, but others have one")
    }

    private func checkPathway(_ findings: inout Findings) {
        guard let steering = playlist.contentSteering, let id = steering.pathwayID, !playlist.variants.isEmpty,
            !playlist.variants.contains(where: { $0.pathwayID == id })
        else { return }
        findings.add(
            .missingPathway, line: steering.line, "no variant has PATHWAY-ID \"\(PlaylistError.excerpt(of: id))\"")
    }

    private func checkSessionData(_ findings: inout Findings) {
        var seen: Set<[String]> = []
        for data in playlist.sessionData {
            if (data.value == nil) == (data.uri == nil) {
                findings.add(.sessionData, line: data.line, "session data needs either VALUE or URI")
            }
            if !seen.insert([data.dataID, data.language ?? ""]).inserted {
                findings.add(.sessionData, line: data.line, "an earlier line has the same DATA-ID and LANGUAGE")
            }
        }
    }

    private func checkStableIDs(_ findings: inout Findings) {
        let allowed = { (byte: UInt8) in
            byte.isDigit || (byte | 0x20) &- 0x61 < 26 || "+/=.-_".utf8.contains(byte)
        }
        var ids = playlist.variants.map { ($0.stableID, $0.line) }
        ids += playlist.media.map { ($0.stableID, $0.line) }
        for (id, line) in ids {
            guard let id, id.isEmpty || !id.utf8.allSatisfy(allowed) else { continue }
            findings.add(.stableID, line: line, "a stable id may contain only letters, digits and + / = . - _")
        }
    }

    private func checkVersion(_ findings: inout Findings) {
        var needed = RequiredVersion(declared: 1)
        for variant in playlist.variants {
            needed.need(variant: variant.attributes)
        }
        for media in playlist.media {
            needed.need(media: media)
        }
        for key in playlist.sessionKeys {
            needed.need(key: key.attributes)
        }
        needed.need(definitionsOf: playlist.text)
        needed.report(declared: playlist.version, for: playlist.text, source: source, &findings)
    }
}
