/// The initialization section of a player, that of another rendition, and one of its segments, behind each other: a
/// splice keeps every sample but the first of each video, which has parameter sets in front.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let ends = boxes(bytes, in: 0..<bytes.count)?.filter { $0.type == "moov" }.map(\.range.upperBound) ?? []
    // A segment alone goes behind sections of its own kind, which are made for it.
    guard ends.count >= 2, let playlist = try? InitializationSection(Array(bytes[..<ends[0]])),
        let source = try? InitializationSection(Array(bytes[ends[0]..<ends[1]]))
    else {
        check(segment: bytes)
        return 0
    }
    let segment = Array(bytes[ends[1]...])
    check(segment: segment)
    check(segment, SplicePair(of: source, behind: playlist))
    check(segment, SplicePair(of: source, behind: source))
    return 0
}

/// The ranges read of a segment cover it.
private func check(segment bytes: [UInt8]) {
    guard let segment = try? MediaSegment(ByteSource(bytes)) else { return }
    var end = 0
    for box in segment.boxes {
        precondition(box.range.lowerBound == end, "a box is out of place")
        end = box.range.upperBound
    }
    precondition(end == bytes.count && segment.count == end, "boxes do not cover the file")
}

private func check(_ segment: [UInt8], _ splicePair: SplicePair) {
    let result = Result { () throws(SegmentFormatError) in try splicePair.splice(ByteSource(segment)) }
    guard case .success(let splice) = result else { return }
    let spliced = splice.joined(with: segment)
    precondition(spliced.count == splice.count, "a splice is not as long as it says")
    precondition(splice.pieces.allSatisfy { $0.count > 0 }, "an empty piece")
    guard let old = try? MediaSegment(ByteSource(segment)), let before = samples(of: old, segment, splicePair.source),
        let new = try? MediaSegment(ByteSource(spliced)), let after = samples(of: new, spliced, splicePair.playlist)
    else { preconditionFailure("a splice cannot be read") }
    precondition(after.count == before.count, "samples are lost")
    for (sample, original) in zip(after, before) where sample != original {
        precondition(sample.track == original.track && sample.isFirst && sample.bytes.count > original.bytes.count)
        precondition(hasWithin(sample.bytes, original.bytes), "a sample is not what it was")
    }
    let (times, originals) = (new.times(of: splicePair.playlist), old.times(of: splicePair.source))
    precondition(times.map(\.decodeStart) == originals.map(\.decodeStart), "samples are decoded at other times")
}

private struct Sample: Equatable {
    let track: UInt32
    let isFirst: Bool
    let bytes: ArraySlice<UInt8>
}

private func samples(of segment: MediaSegment, _ bytes: [UInt8], _ section: InitializationSection) -> [Sample]? {
    guard let layout = try? SampleLayout(of: segment, tracks: section) else { return nil }
    var (found, seen): ([Sample], Set<UInt32>) = ([], [])
    for run in layout.runs {
        let part = segment.fragments[run.fragment].tracks[run.track]
        guard let track = section.track(part.header.trackID) else { return nil }
        let standing = part.header.defaults(after: track.defaults).size
        var position = run.range.lowerBound
        // A box may announce a million samples of no bytes; the first few tell as much.
        for sample in 0..<min(64, part.runs[run.run].count) {
            let end = position + Int(part.runs[run.run].value(.size, of: sample) ?? standing)
            found.append(Sample(track: track.id, isFirst: seen.insert(track.id).inserted, bytes: bytes[position..<end]))
            position = end
        }
    }
    return found
}

/// True if the bytes are the original's with others inserted at one place.
private func hasWithin(_ bytes: ArraySlice<UInt8>, _ original: ArraySlice<UInt8>) -> Bool {
    let lead = zip(bytes, original).prefix { $0 == $1 }.count
    let tail = zip(bytes.reversed(), original.reversed()).prefix { $0 == $1 }.count
    return lead + tail >= original.count
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
