import API

/// Shows how far a job is: each state once.
struct JobProgress<Text: JobText> {
    private let style: ProgressReporter.Style
    private var last: Text.Job?

    /// Nothing is shown yet.
    init(_ style: ProgressReporter.Style) { self.style = style }

    /// Shows a state, if it is another one than before.
    mutating func show(_ job: Text.Job) {
        guard job != last else { return }
        last = job
        switch style {
        case .json: Output.line(Text.progress(job))
        case .plain: break
        case .drawn(let hasColor):
            let line = Text.drawn(job, columns: Terminal.columns(), hasColor: hasColor)
            Output.error("\r\(line)\u{1B}[K")
        }
    }

    /// Clears the line that was drawn, if one was.
    mutating func leave() {
        if case .drawn = style, last != nil { Output.error("\r\u{1B}[K") }
        last = nil
    }
}
