/// Makes the edits of one `traf`.
struct TrackFragmentEditor {
    /// The bytes that the box is in.
    let source: FileBytes
    let part: TrackFragment
    /// Where its data offsets count from.
    let base: Int
    /// The track as the segment was made for it, and as the player knows it.
    let (own, playlist): (Track, Track)
    /// What is put in front of its first sample.
    let insertion: SplicePlanner.Insertion?

    /// In order; the header of the box itself is not among them.
    func edits(_ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var edits: [Edit] = []
        if let header = header(moved) { edits.append(header) }
        let shift = own.compositionShift(behind: playlist) ?? 0
        for (index, run) in part.runs.enumerated() {
            let growth = insertion?.run == index ? insertion?.bytes.count : nil
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

    /// The `tfhd` with what its own track's defaults were and the player's are not, and with its base where that is
    /// now; nil when nothing differs.
    private func header(_ moved: PositionMap) -> Edit? {
        let header = part.header
        var flags = header.flags
        var (fields, values): ([UInt8], [UInt8]) = ([], [])
        fields.append(integer: header.trackID)
        if let base = header.baseDataOffset { fields.append(integer: UInt64(moved(base))) }
        let (mine, its) = (header.defaults(after: own.defaults), header.defaults(after: playlist.defaults))
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

    /// A data offset as it is now; nothing of a run that has none.
    private func offset(of run: TrackRun, _ moved: PositionMap) throws(SegmentFormatError) -> [UInt8] {
        guard let old = run.dataOffset else { return [] }
        guard let offset = Int32(exactly: moved(base + Int(old)) - moved(base)) else {
            throw SegmentFormatError(.cannotJoin, "trun", at: run.box.range.lowerBound, "its data are too far away")
        }
        var bytes: [UInt8] = []
        bytes.append(integer: offset)
        return bytes
    }

    /// The `trun` with another size of its first sample, and with composition offsets that have moved.
    private func rewritten(
        _ run: TrackRun, growth: Int?, shift: Int64, _ moved: PositionMap
    ) throws(SegmentFormatError) -> Edit {
        var fields = run.fields
        if growth != nil { fields.insert(.size) }
        if shift != 0 { fields.insert(.compositionOffset) }
        var body: [UInt8] = []
        body.append(integer: UInt32(run.version) << 24 | fields.rawValue)
        body.append(integer: UInt32(run.count))
        body += try offset(of: run, moved)
        if let flags = run.firstSampleFlags { body.append(integer: flags) }
        body.reserveCapacity(body.count + 16 * run.count)
        let standing = part.header.defaults(after: own.defaults).size
        for sample in 0..<run.count {
            for field in TrackRun.Fields.ofSample where fields.contains(field) {
                let old = run.value(field, of: sample) ?? (field == .size ? standing : 0)
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
        guard let size = UInt32(exactly: value) else {
            throw SegmentFormatError(.cannotJoin, "trun", at: run.box.range.lowerBound, "a sample is too large")
        }
        return size
    }

    private func composition(of run: TrackRun, _ value: Int64) throws(SegmentFormatError) -> UInt32 {
        let signed = Int32(exactly: value).map { UInt32(bitPattern: $0) }
        guard let offset = run.version == 0 ? UInt32(exactly: value) : signed else {
            throw SegmentFormatError(
                .cannotJoin, "trun", at: run.box.range.lowerBound, "a sample would be shown too late")
        }
        return offset
    }
}
