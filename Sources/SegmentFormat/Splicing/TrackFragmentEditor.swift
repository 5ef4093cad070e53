struct TrackFragmentEditor {
    let source: FileBytes
    let part: TrackFragment
    /// File offset that data offsets are relative to.
    let base: Int
    /// The track of the segment's own initialization section.
    let own: Track
    /// The track of the playlist's initialization section.
    let playlist: Track
    let insertion: SplicePlanner.Insertion?

    func edits(_ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var edits: [Edit] = []
        if let header = header(moved) {
            edits.append(header)
        }
        let shift = own.compositionShift(behind: playlist) ?? 0

        for (index, run) in part.runs.enumerated() {
            var growth: Int?
            if let insertion, insertion.run == index {
                growth = insertion.bytes.count
            }
            if growth != nil || shift != 0 && run.count > 0 {
                edits.append(try rewritten(run, growth: growth, shift: Int64(shift), moved))
            } else if run.dataOffset != nil {
                edits.append(
                    Edit(
                        range: run.dataOffsetPosition..<(run.dataOffsetPosition + 4), bytes: try offset(of: run, moved))
                )
            }
        }

        edits += try AuxiliaryEditor(source: source, part: part, base: base, track: own, insertion: insertion)
            .edits(moved)
        return edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// Rewrites the `tfhd` with defaults that differ from the playlist's and the moved base; nil if unchanged.
    private func header(_ moved: PositionMap) -> Edit? {
        let header = part.header
        var flags = header.flags
        var fields: [UInt8] = []
        var values: [UInt8] = []
        fields.append(integer: header.trackID)
        if let base = header.baseDataOffset {
            fields.append(integer: UInt64(moved(base)))
        }
        let mine = header.defaults(after: own.defaults)
        let its = header.defaults(after: playlist.defaults)
        for flag in TrackFragmentHeader.defaultFlags {
            guard header.flags & flag != 0 || mine[flag] != its[flag] else { continue }
            flags |= flag
            values.append(integer: mine[flag])
        }
        guard flags != header.flags || header.baseDataOffset != nil else { return nil }
        var bytes = Box.header("tfhd", size: 12 + fields.count + values.count)
        bytes.append(integer: flags)
        return Edit(range: header.box.range, bytes: bytes + fields + values)
    }

    /// The moved data offset of a run; empty if the run has none.
    private func offset(of run: TrackRun, _ moved: PositionMap) throws(SegmentFormatError) -> [UInt8] {
        guard let old = run.dataOffset else { return [] }
        guard let offset = Int32(exactly: moved(base + Int(old)) - moved(base)) else {
            throw run.box.error(.cannotJoin, "its data are too far away")
        }
        var bytes: [UInt8] = []
        bytes.append(integer: offset)
        return bytes
    }

    /// Rewrites the `trun` with a larger first sample and with shifted composition offsets.
    private func rewritten(
        _ run: TrackRun, growth: Int?, shift: Int64, _ moved: PositionMap
    ) throws(SegmentFormatError) -> Edit {
        var fields = run.fields
        if growth != nil {
            fields.insert(.size)
        }
        if shift != 0 {
            fields.insert(.compositionOffset)
        }

        var body: [UInt8] = []
        body.append(integer: UInt32(run.version) << 24 | fields.rawValue)
        body.append(integer: UInt32(run.count))
        body += try offset(of: run, moved)
        if let flags = run.firstSampleFlags {
            body.append(integer: flags)
        }
        body.reserveCapacity(body.count + 16 * run.count)
        let standing = part.header.defaults(after: own.defaults).size

        for sample in 0..<run.count {
            for field in TrackRun.Fields.ofSample where fields.contains(field) {
                let usual = field == .size ? standing : 0
                let old = run.value(field, of: sample) ?? usual
                switch field {
                case .size where sample == 0: body.append(integer: try size(of: run, UInt64(old) + UInt64(growth ?? 0)))
                case .compositionOffset where shift != 0:
                    body.append(integer: try composition(of: run, run.compositionOffset(of: sample) + shift))
                default: body.append(integer: old)
                }
            }
        }

        return Edit(range: run.box.range, bytes: Box.header("trun", size: 8 + body.count) + body)
    }

    private func size(of run: TrackRun, _ value: UInt64) throws(SegmentFormatError) -> UInt32 {
        guard let size = UInt32(exactly: value) else { throw run.box.error(.cannotJoin, "a sample is too large") }
        return size
    }

    private func composition(of run: TrackRun, _ value: Int64) throws(SegmentFormatError) -> UInt32 {
        var offset = UInt32(exactly: value)
        if run.version != 0 {
            // Version 1 has signed offsets.
            offset = Int32(exactly: value).map { UInt32(bitPattern: $0) }
        }
        guard let offset else {
            throw run.box.error(.cannotJoin, "a sample would be shown too late")
        }
        return offset
    }
}

/// Edits the boxes that describe the encryption of one `traf`'s samples (ISO/IEC 23001-7 §7).
struct AuxiliaryEditor {
    let source: FileBytes
    let part: TrackFragment
    /// File offset that the offsets are relative to.
    let base: Int
    /// The track of the segment's own initialization section.
    let track: Track
    let insertion: SplicePlanner.Insertion?

    func edits(_ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var edits: [Edit] = []
        for box in part.auxiliary where box.type == "saio" {
            edits += try offsets(box, moved)
        }
        guard insertion != nil else { return edits }
        guard !part.hasSubsamples else { throw refusal("its samples are divided by a subs box") }
        let isEncrypted = track.sampleEntries.contains { $0.protection != nil }
        guard isEncrypted || !part.auxiliary.isEmpty else { return edits }
        return edits + [try clearedMore()]
    }

    /// Enlarges the first clear range of the first sample in `senc`.
    private func clearedMore() throws(SegmentFormatError) -> Edit {
        guard let insertion, track.sampleEntries.count == 1, let protection = track.sampleEntries[0].protection,
            let box = part.auxiliary.first(where: { $0.type == "senc" }),
            !part.auxiliary.contains(where: { ["uuid", "sgpd", "senc"].contains($0.type) && $0 != box })
        else { throw refusal("it is encrypted, and does not have exactly one senc box") }
        var reader = BoxReader(source, box)
        let (_, flags) = try reader.fullBox()
        let count: UInt32 = try reader.integer()
        guard flags & 2 != 0, count > 0 else { throw refusal("it is encrypted without subsamples") }
        try reader.skip(protection.vectorSize)
        let parts: UInt16 = try reader.integer()
        let position = reader.position
        guard parts > 0 else { throw refusal("it is encrypted without subsamples in its first picture") }
        let clear: UInt16 = try reader.integer()
        guard clear > insertion.picture.lead, let grown = UInt16(exactly: Int(clear) + insertion.bytes.count) else {
            throw refusal("it is encrypted, and its first picture has no room for clear parameter sets")
        }
        var bytes: [UInt8] = []
        bytes.append(integer: grown)
        return Edit(range: position..<(position + 2), bytes: bytes)
    }

    /// Updates the offsets of a `saio` (ISO/IEC 14496-12 §8.7.9), which have the same base as data offsets.
    private func offsets(_ box: Box, _ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var reader = BoxReader(source, box)
        let (version, flags) = try reader.fullBox()
        if flags & 1 != 0 {
            try reader.skip(8)
        }
        let count: UInt32 = try reader.integer()
        let start = reader.position
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let old = try reader.integer(version: min(version, 1))
            guard old <= Int32.max else { throw reader.error(.badValue, "an offset is \(old)") }
            let new = moved(base + Int(old)) - moved(base)
            if version == 0 {
                bytes.append(integer: UInt32(clamping: new))
            } else {
                bytes.append(integer: Int64(new))
            }
        }
        return [Edit(range: start..<reader.position, bytes: bytes)]
    }

    private func refusal(_ reason: String) -> SegmentFormatError { part.box.error(.cannotJoin, reason) }
}
