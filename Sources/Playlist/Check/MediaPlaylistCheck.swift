/// What a media playlist says as a whole.
struct MediaPlaylistCheck {
    let playlist: MediaPlaylist

    private var text: PlaylistText { playlist.text }

    /// Looks at everything.
    func run(_ findings: inout Findings) {
        checkHeader(&findings)
        checkStart(&findings)
        checkKeys(&findings)
        checkVersion(&findings)
        SegmentCheck(playlist: playlist).run(&findings)
        LowLatencyCheck(playlist: playlist).run(&findings)
        DateRangeCheck(playlist: playlist).run(&findings)
    }

    private func checkHeader(_ findings: inout Findings) {
        if let line = line(of: .targetDuration) {
            if text.bytes.decimalInteger(text.value(line)) == nil {
                findings.add(.fractionalTargetDuration, line: line + 1, "the target duration is not a whole number")
            }
        } else {
            findings.add(.noTargetDuration, "EXT-X-TARGETDURATION is missing")
        }
        if let line = line(of: .playlistType), playlist.playlistType == nil {
            findings.add(.unknownType, line: line + 1, "the playlist's type is neither EVENT nor VOD")
        }
        if playlist.playlistType == .vod, playlist.isLive {
            findings.add(
                .endless, line: line(of: .playlistType).map { $0 + 1 }, "VOD without EXT-X-ENDLIST: players reload it")
        }
        if playlist.segments.isEmpty, playlist.parts.isEmpty { findings.add(.noSegments, "no media segment is listed") }
        if let skip = playlist.skip {
            findings.add(.deltaUpdate, line: skip.line, "a delta update makes sense only with an earlier playlist")
        }
        checkPositions(&findings)
    }

    /// The sequence numbers are to stand before what they count.
    private func checkPositions(_ findings: inout Findings) {
        guard let first = playlist.segments.first?.line else { return }
        for tag in [Tag.mediaSequence, .discontinuitySequence] {
            guard let line = line(of: tag), line + 1 > first else { continue }
            findings.add(.latePosition, line: line + 1, clause: tag.clause, "the number stands after the first segment")
        }
    }

    private func checkStart(_ findings: inout Findings) {
        guard let start = playlist.start else { return }
        if abs(start.timeOffset) > playlist.duration {
            findings.add(.badStart, line: start.line, "the offset lies beyond the playlist's \(playlist.duration) s")
        }
        if let attributes = try? text.attributes(start.line - 1), Start.reordered(attributes) != nil {
            findings.add(.badStart, line: start.line, "libavformat reads TIME-OFFSET only as the first attribute")
        }
    }

    private func checkKeys(_ findings: inout Findings) {
        for key in playlist.keys {
            if key.method == .other {
                findings.add(
                    .unknownMethod, line: key.line, "an unknown METHOD: players play what it encrypts as if clear")
            } else if key.needsDRM {
                findings.add(
                    .needsDRM, line: key.line,
                    "KEYFORMAT \(PlaylistError.excerpt(of: key.keyFormat)) needs a content decryption module")
            } else if !key.isFetchable {
                findings.add(.dataKey, line: key.line, "few players read a key from a data: URI")
            }
        }
    }

    private func checkVersion(_ findings: inout Findings) {
        var needed = RequiredVersion(declared: 1)
        if playlist.isIFramesOnly { needed.need(4) }
        if !playlist.maps.isEmpty { needed.need(playlist.isIFramesOnly ? 5 : 6) }
        if let skip = playlist.skip { needed.need(skip.removedDateRanges.isEmpty ? 9 : 10) }
        for key in playlist.keys { needed.need(key: key.attributes) }
        for segment in playlist.segments {
            if segment.byteRange != nil { needed.need(4) }
            if segment.durationText.utf8.contains(UInt8(ascii: ".")) { needed.need(3) }
        }
        needed.need(definitionsOf: text)
        needed.report(declared: playlist.version, line: line(of: .version), &findings)
    }

    private func line(of tag: Tag) -> Int? { text.lines.firstIndex { $0.kind == .tag(tag) } }
}

extension RequiredVersion {
    /// Takes note of EXT-X-DEFINE: variables came with 8, those of a query with 11.
    mutating func need(definitionsOf text: PlaylistText) {
        for line in text.lines.indices where text.lines[line].kind == .tag(.define) {
            need((try? text.attributes(line))?["QUERYPARAM"] == nil ? 8 : 11)
        }
    }

    /// Tells of a version that is too low for what the text uses; `line` is an index.
    func report(declared: Int, line: Int?, _ findings: inout Findings) {
        guard number > declared else { return }
        let stated = line == nil ? "no version is stated" : "the version is \(declared)"
        findings.add(.versionTooLow, line: line.map { $0 + 1 }, "\(stated), and what the playlist uses needs \(number)")
    }
}
