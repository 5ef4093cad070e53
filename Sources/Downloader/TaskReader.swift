import Library
import Store

/// Reads what records of downloads want. Most of a large store want the same in the same words, which is read once.
struct TaskReader {
    private var known: [String: DownloadTask] = [:]

    /// What a record wants; one of a Weir that kept no tasks wants whole renditions.
    ///
    /// - Throws: what `DownloadTask.init(stored:)` does.
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
