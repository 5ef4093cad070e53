/// Makes the edits of what tells a player how the samples of one `traf` are encrypted (ISO/IEC 23001-7 §7).
struct AuxiliaryEditor {
    /// The bytes that the box is in.
    let source: FileBytes
    let part: TrackFragment
    /// Where offsets count from.
    let base: Int
    /// The track as the segment was made for it.
    let track: Track
    /// What is put in front of its first sample, in the clear.
    let insertion: SplicePlanner.Insertion?

    /// In no order.
    func edits(_ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var edits: [Edit] = []
        for box in part.auxiliary where box.type == "saio" { edits += try offsets(box, moved) }
        guard insertion != nil else { return edits }
        guard !part.hasSubsamples else { throw refusal("its samples are divided by a subs box") }
        let isEncrypted = track.sampleEntries.contains { $0.protection != nil }
        guard isEncrypted || !part.auxiliary.isEmpty else { return edits }
        return edits + [try clearedMore()]
    }

    /// The map of the first sample, whose first clear part has grown.
    private func clearedMore() throws(SegmentFormatError) -> Edit {
        guard let insertion, track.sampleEntries.count == 1, let protection = track.sampleEntries[0].protection,
            let box = part.auxiliary.first(where: { $0.type == "senc" }),
            !part.auxiliary.contains(where: { ["uuid", "sgpd", "senc"].contains($0.type) && $0 != box })
        else { throw refusal("it is encrypted, and does not have one senc box to say how") }
        var reader = BoxReader(source, box)
        let (_, flags) = try reader.fullBox()
        let count: UInt32 = try reader.integer()
        guard flags & 2 != 0, count > 0 else { throw refusal("it is encrypted, its pictures as wholes") }
        try reader.take(protection.vectorSize)
        let parts: UInt16 = try reader.integer()
        let position = reader.position
        guard parts > 0 else { throw refusal("it is encrypted, its first picture as a whole") }
        let clear: UInt16 = try reader.integer()
        guard clear > insertion.picture.lead, let grown = UInt16(exactly: Int(clear) + insertion.bytes.count) else {
            throw refusal("it is encrypted, and its first picture has no room for clear parameter sets")
        }
        var bytes: [UInt8] = []
        bytes.append(integer: grown)
        return Edit(range: position..<(position + 2), bytes: bytes)
    }

    /// The offsets of a `saio` (ISO/IEC 14496-12 §8.7.9), which count from where the data offsets do.
    private func offsets(_ box: Box, _ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var reader = BoxReader(source, box)
        let (version, flags) = try reader.fullBox()
        if flags & 1 != 0 { try reader.take(8) }
        let count: UInt32 = try reader.integer()
        let start = reader.position
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let old = try reader.integer(version: version == 0 ? 0 : 1)
            guard old <= Int32.max else { throw reader.error(.badValue, "an offset is \(old)") }
            let new = moved(base + Int(old)) - moved(base)
            if version == 0 { bytes.append(integer: UInt32(clamping: new)) } else { bytes.append(integer: Int64(new)) }
        }
        return [Edit(range: start..<reader.position, bytes: bytes)]
    }

    private func refusal(_ reason: String) -> SegmentFormatError {
        SegmentFormatError(.cannotJoin, "traf", at: part.box.range.lowerBound, reason)
    }
}
