import Library
import Store

/// Reads the tasks of download records. Most records of a large store have equal text, which is parsed once.
struct TaskReader {
    private var known: [String: DownloadTask] = [:]

    /// Returns the task of a record; a record of a Weir without tasks requests its renditions completely.
    ///
    /// - Throws: the errors of `DownloadTask.init(stored:)`.
    mutating func task(of record: DownloadRecord) throws -> DownloadTask {
        guard let text = record.task else {
            var task = DownloadTask()
            task.add(.init(Selection(), renditions: record.renditions.split(separator: " ").map(String.init)))
            return task
        }
        if let task = known[text] { return task }
        let task = try DownloadTask(stored: text)
        known[text] = task
        return task
    }
}
