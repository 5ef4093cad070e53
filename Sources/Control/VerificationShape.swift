import Downloader
import EventLoop
import Integrity
import Library
import Store

extension API.Verification {
    /// A verification as it stands. What was found is worked out from the playlists and folders, once all was read.
    @LoopActor init(_ job: VerificationJob) {
        let verification = job.verification
        self.init(asset: job.asset.name, state: .init(job.state))
        isRepair = job.isRepair
        bytes = Int(verification.pace.bytes)
        totalBytes = Int(verification.totalBytes)
        found = job.found
        verified = job.asset.verified.map { Int($0) }
        error = job.failure.map { .init(code: ControlError.Code(stored: $0.code), message: $0.message) }
        guard job.state.isFinal else { return }
        let report = job.report
        remaining = report.remaining
        parts = report.parts.map(Part.init)
    }
}

extension API.Verification.Part {
    fileprivate init(_ part: VerificationReport.Part) {
        self.init(
            id: part.id, pieces: part.pieces, bytes: Int(part.bytes),
            whole: part.whole.map(API.Download.TimeRange.init))
        remaining = part.remaining
        holes = part.holes.map { hole in
            .init(
                time: hole.time.map(API.Download.TimeRange.init), first: hole.first, last: hole.last,
                count: hole.count, isWanted: hole.isWanted)
        }
        mismatches = part.mismatches.map { mismatch in
            .init(
                file: mismatch.file, time: mismatch.time.map(API.Download.TimeRange.init),
                fault: mismatch.fault.rawValue, isMended: mismatch.isMended)
        }
    }
}

extension API.Download.TimeRange {
    fileprivate init(_ range: Range<Double>) { self.init(start: range.lowerBound, end: range.upperBound) }
}
