import Foundation

/// Time for which threads could run and had to wait for a processor. On a busy machine it delays them.
package enum ProcessorWait {
    /// Seconds of all present threads of these processes together, since each started.
    package static func seconds(of processes: [Int32]) throws -> Double {
        try processes.reduce(0) { sum, process in
            let folder = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(sum) { sum, thread in
                // A thread that has ended meanwhile does not count. The second of the three numbers is in nanoseconds.
                let line = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
                return sum + (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1e9
            }
        }
    }
}
