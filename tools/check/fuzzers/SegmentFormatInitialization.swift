/// An initialization section that is read goes together with itself, and compares with its neighbours without a trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    do throws(SegmentFormatError) {
        let section = try InitializationSection(bytes)
        precondition(!section.tracks.isEmpty, "a section without tracks")
        for track in section.tracks {
            precondition(track.timescale > 0 && section.track(track.id)?.handler == track.handler)
            precondition(!track.sampleEntries.isEmpty, "a track without sample entries")
            for entry in track.sampleEntries { check(entry.configuration) }
        }
        precondition(SplicePair(of: section, behind: section).verdict == .equivalent, "a section is not like itself")
        // The same with a byte changed may be anything, and is compared both ways alike.
        var changed = bytes
        changed[count / 2] ^= 1
        guard let other = try? InitializationSection(changed) else { return 0 }
        let there = SplicePair(of: other, behind: section).verdict
        let back = SplicePair(of: section, behind: other).verdict
        precondition((there == .equivalent) == (back == .equivalent), "being alike depends on the order")
        // A source's pictures can be shown later than they were, but not earlier: that alone goes one way.
        if other.tracks.map(\.edit) == section.tracks.map(\.edit) {
            precondition(isRefusal(there) == isRefusal(back), "a verdict depends on the order")
        }
    } catch {
        precondition((error.offset ?? 0) <= count, "an error that is nowhere")
    }
    checkWalk(bytes)
    return 0
}

private func isRefusal(_ verdict: SplicePair.Verdict) -> Bool {
    if case .cannotBeJoined = verdict { true } else { false }
}

private func check(_ configuration: DecoderConfiguration?) {
    guard let configuration else { return }
    precondition([1, 2, 4].contains(configuration.lengthSize), "an invalid length")
    precondition(configuration.parameterSets.allSatisfy { !$0.isEmpty }, "an empty parameter set")
    guard let bytes = configuration.inBand else { return }
    let sizes = configuration.parameterSets.reduce(0) { $0 + $1.count + configuration.lengthSize }
    precondition(bytes.count == sizes, "a parameter set is lost")
}

/// The boxes of the top level, and those in each, lie in order and without a gap.
private func checkWalk(_ bytes: [UInt8]) {
    guard let topLevel = boxes(bytes, in: 0..<bytes.count) else { return }
    var end = 0
    for box in topLevel {
        precondition(box.range.lowerBound == end && box.range.count >= box.headerSize, "a box is out of place")
        end = box.range.upperBound
        guard let children = boxes(bytes, in: box.payload, of: box.type), let last = children.last else { continue }
        precondition(children[0].range.lowerBound == box.payload.lowerBound && last.range.upperBound == end)
    }
    precondition(end == bytes.count, "boxes do not cover the file")
}

/// The boxes in a range of a file, in order; nil if one is invalid.
private func boxes(_ bytes: [UInt8], in range: Range<Int>, of parent: FourCC? = nil) -> [Box]? {
    var reader = BoxReader(FileBytes(bytes: bytes, origin: 0), in: parent, range)
    var found: [Box] = []
    do throws(SegmentFormatError) {
        while let box = try reader.box() { found.append(box) }
        return found
    } catch {
        return nil
    }
}
