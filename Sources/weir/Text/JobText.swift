import SafeText
import WeirAPI

/// Output of a command that runs a job.
protocol JobText: SendableMetatype {
    associatedtype Job: API.Job

    /// The current activity, if bytes do not describe the progress; nil otherwise.
    static func stage(_ job: Job) -> String?
    /// Adds the job's own keys to a line of JSON progress, besides the name and the bytes.
    static func add(_ job: Job, to line: inout JSONLine)
    /// The result for users; empty if the failure says everything.
    static func lines(_ job: Job) -> [String]
    /// The failure for the exit code; nil if the job succeeded.
    static func failure(_ job: Job) -> CommandFailure?
    static func interruption(ofAsset name: String) -> (message: String, next: String)
}

extension JobText {
    static func stage(_ job: Job) -> String? { nil }
    static func add(_ job: Job, to line: inout JSONLine) {}

    /// The progress line that is redrawn on a terminal, for a number of columns.
    static func drawn(_ job: Job, columns: Int, hasColor: Bool) -> String {
        let name = Printable.line(job.asset)
        if let stage = stage(job) {
            return "\(name)  \(Printable.line(stage))"
        }
        var fraction = 0.0
        if job.totalBytes > 0 {
            fraction = Double(job.bytes) / Double(job.totalBytes)
        }
        let percent = Format.percent(min(0.99, fraction)).rightAligned(to: 4)
        let tail = "\(Format.bytes(job.bytes)) of \(Format.bytes(job.totalBytes))"
        let width = min(30, columns - 1 - name.count - percent.count - tail.count - 5)
        guard width >= 5 else { return "\(name)  \(percent)" }
        var bar = ProgressBar.text(fraction, width: width)
        if hasColor {
            bar = "\u{1B}[36m\(bar)\u{1B}[0m"
        }
        return "\(name)  \(percent) \(bar)  \(tail)"
    }

    // MARK: JSON

    static func progress(_ job: Job) -> String {
        var line = JSONLine("progress")
        line.add("id", job.asset)
        add(job, to: &line)
        line.add("bytes", job.bytes)
        line.add("totalBytes", job.totalBytes)
        return line.text
    }

    /// The final line; nil if there was no job.
    static func result(_ job: Job?, _ failure: CommandFailure?) -> String {
        var line = JSONLine("result")
        line.add("id", job?.asset)
        line.add(Job.kind.rawValue, job)
        line.add(failure)
        return line.text
    }
}
