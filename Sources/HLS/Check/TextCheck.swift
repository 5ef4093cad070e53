/// Checks the lines of any playlist, each one alone.
struct TextCheck {
    let text: PlaylistText
    let isMultivariant: Bool
    var findings: Findings

    mutating func run() {
        if text.hasByteOrderMark {
            findings.add(.byteOrderMark, line: 1, "the text begins with a byte order mark; most players fail")
        }

        var seen: [Tag: Int] = [:]
        var unknown: Set<String> = []

        for line in text.lines.indices {
            checkLine(line)
            switch text.lines[line].kind {
            case .uri: checkURI(line)
            case .tag(.unknown): checkUnknown(line, &unknown)
            case .tag(let tag):
                if tag.isSingle, let first = seen[tag] {
                    var effect = ""
                    if isRefusedTwice(tag, first: first - 1) {
                        effect = ": hls.js refuses the playlist"
                    }
                    findings.add(
                        .repeatedTag, line: line + 1, clause: tag.clause,
                        "\(name(tag)) is repeated; it is already in line \(first)\(effect)")
                }
                seen[tag] = seen[tag] ?? line + 1
                checkTag(tag, line)
            case .blank, .comment: break
            }
        }

        checkEnd(seen)
        checkVersion()
        checkEndless(seen)
        checkTargetDuration(seen)
    }

    /// hls.js takes the digits at the beginning of the value, and refuses a playlist without any.
    private mutating func checkTargetDuration(_ seen: [Tag: Int]) {
        guard !isMultivariant, let first = seen[.targetDuration] else { return }
        let isReadable = text.lines.indices.contains { line in
            text.lines[line].kind == .tag(.targetDuration) && text.bytes[text.value(line)].first?.isDigit ?? false
        }
        if isReadable {
            return
        }
        findings.add(
            .noTargetDuration, line: first, "EXT-X-TARGETDURATION is no number of seconds: hls.js refuses the playlist")
    }

    /// True if hls.js 1.6 reports an error for a second occurrence. It takes a zero for an absent number.
    private func isRefusedTwice(_ tag: Tag, first: Int) -> Bool {
        guard !isMultivariant else { return false }
        switch tag {
        case .playlistType, .endList, .serverControl: return true
        case .version, .targetDuration: return text.bytes[text.value(first)].first?.isDigit ?? false
        case .mediaSequence, .discontinuitySequence: return text.bytes.decimalInteger(text.value(first)) ?? 0 > 0
        case .skip:
            let count = try? text.attributes(first).decimalInteger("SKIPPED-SEGMENTS")
            return count ?? 0 > 0
        case .partInf:
            let target = try? text.attributes(first).duration("PART-TARGET")
            return target ?? .zero > .zero
        default: return false
        }
    }

    private mutating func checkEndless(_ seen: [Tag: Int]) {
        guard !isMultivariant, let line = seen[.playlistType], seen[.endList] == nil,
            text.bytes.matches(text.value(line - 1), "VOD")
        else { return }
        findings.add(.endless, line: line, "a VOD playlist without EXT-X-ENDLIST: players reload it")
    }

    /// Checks values that are mended before the playlist is read.
    private mutating func checkValue(_ tag: Tag, _ line: Int) {
        let value = text.value(line)
        let isInteger = text.bytes.decimalInteger(value) != nil
        switch tag {
        case .inf where text.bytes.firstIndex(of: UInt8(ascii: ","), in: value) == nil:
            findings.add(.noComma, line: line + 1, "the duration has no comma after it")
        case .targetDuration where !isInteger && text.bytes.decimalFloat(value) != nil:
            findings.add(.fractionalTargetDuration, line: line + 1, "the target duration is not a whole number")
        case .bitrate where !isInteger:
            findings.add(.badBitRate, line: line + 1, "the bit rate is not a decimal-integer")
        default: break
        }
    }

    /// A text truncated in its last line may otherwise look complete. No segment can be missing behind EXT-X-ENDLIST, and
    /// packagers leave out the last line end of multivariant playlists.
    private mutating func checkEnd(_ seen: [Tag: Int]) {
        guard let last = text.lines.indices.last, text.bytes.last != 0x0A, !text.endsInTag else { return }
        let kind = text.lines[last].kind
        guard kind != .blank, kind != .comment, kind != .tag(.endList) else { return }
        if isMultivariant || seen[.endList] != nil || isWholeURI(last) {
            findings.add(.openEnd, severity: .note, line: last + 1, "the last line has no line end")
        } else {
            findings.add(.openEnd, line: last + 1, "the last line has no line end: the text may be truncated")
        }
    }

    /// True for a URI with the file name extension of the URI before it: nothing of it is missing.
    private func isWholeURI(_ line: Int) -> Bool {
        guard text.lines[line].kind == .uri, let previous = text.lines[..<line].lastIndex(where: { $0.kind == .uri })
        else { return false }
        let names = [line, previous].map { text.string($0).utf8.prefix { $0 != UInt8(ascii: "?") } }
        let extensions = names.map { name -> [UInt8] in
            guard let ending = name.split(separator: UInt8(ascii: ".")).last else { return [] }
            return Array(ending)
        }
        return names[0].contains(UInt8(ascii: ".")) && extensions[0] == extensions[1]
    }

    private mutating func checkLine(_ line: Int) {
        // Of other lines libavformat reads nothing, or only the beginning.
        let read: [PlaylistText.Line.Kind] = [.uri, .tag(.key), .tag(.map), .tag(.media), .tag(.streamInf)]
        guard text.lines[line].content.count > 4095, read.contains(text.lines[line].kind) else { return }
        findings.add(.longLine, line: line + 1, "libavformat (ffmpeg, mpv) truncates lines at 4096 bytes")
    }

    private mutating func checkURI(_ line: Int) {
        let content = text.lines[line].content
        if text.bytes.trimmed(content) != content {
            findings.add(
                .unexpectedBlank, line: line + 1, "blanks around the URI; some players treat them as a part of it")
        }
    }

    /// Clients must ignore tags that they do not know (RFC 8216 §6.3.1), so that the tags of vendors are no finding.
    private mutating func checkUnknown(_ line: Int, _ known: inout Set<String>) {
        let content = text.bytes.trimmed(text.lines[line].content)
        let length = text.bytes[content].prefix { $0 != UInt8(ascii: ":") && !$0.isBlank }.count
        let bytes = text.bytes[content.lowerBound..<content.lowerBound + length]
        let name = PlaylistError.excerpt(of: bytes)
        guard known.insert(name).inserted, known.count <= 64 else { return }
        if name == "#EXT-X-ALLOW-CACHE" {
            let version = text.firstLine(.version).flatMap { text.bytes.decimalInteger(text.value($0)) }
            guard version ?? 1 >= 7 else { return }
            findings.add(
                .unknownTag, severity: .note, line: line + 1, clause: "RFC 8216 §7",
                "EXT-X-ALLOW-CACHE was removed in protocol version 7; players ignore it")
        } else if let meant = Self.tags.correction(of: name) {
            var message = "\(name) is not an HLS tag, although it resembles \(meant): players ignore it"
            if meant == name {
                message = "\(name) is followed by a blank, not by a colon: players ignore it"
            }
            findings.add(.unknownTag, line: line + 1, message)
        }
    }

    private static let tags = Spelling(Tag.allCases.filter { $0 != .unknown }.map(\.rawValue), prefix: 4)

    private mutating func checkTag(_ tag: Tag, _ line: Int) {
        let scope = tag.scope
        if scope != .any, (scope == .multivariant) != isMultivariant {
            let kind = isMultivariant ? "multivariant" : "media"
            findings.add(
                .wrongKind, line: line + 1, clause: tag.clause, "\(name(tag)) is not allowed in a \(kind) playlist")
        }
        let content = text.lines[line].content
        if text.bytes.trimmed(content).lowerBound != content.lowerBound {
            findings.add(.unexpectedBlank, line: line + 1, "a blank before the tag; some players then ignore it")
        }
        checkValue(tag, line)
        if tag.hasAttributes {
            AttributeCheck(tag: tag, attributes: text.attributes(line)).run(&findings)
        }
    }

    private mutating func checkVersion() {
        guard let line = text.lines.firstIndex(where: { $0.kind == .tag(.version) }) else { return }
        guard let version = text.bytes.decimalInteger(text.value(line)) else { return }
        if version > 13 {
            findings.add(
                .versionHigh, line: line + 1,
                "version \(version) is newer than any specification; players may reject it")
        } else if version > 10 {
            findings.add(.versionHigh, line: line + 1, "Chromium's built-in player rejects versions above 10")
        }
    }

    private func name(_ tag: Tag) -> String { String(tag.rawValue.dropFirst()) }
}
