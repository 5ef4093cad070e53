/// Finds resources that one request can fetch.
extension Resource {
    /// Divides resources into runs, by index. A run consists of adjacent byte ranges of one file, and its total size is
    /// within the limit for one response.
    static func runs(of resources: [Resource]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for (place, resource) in resources.enumerated() {
            if let run = runs.last, resource.continues(resources[run.lowerBound...resources.index(before: place)]) {
                runs[runs.count - 1] = run.lowerBound..<(place + 1)
            } else {
                runs.append(place..<(place + 1))
            }
        }
        return runs
    }

    private func continues(_ run: ArraySlice<Resource>) -> Bool {
        guard let first = run.first, let last = run.last, last.url == url, let range, let before = last.range,
            let start = first.range?.lowerBound
        else { return false }
        return before.upperBound == range.lowerBound && !before.isEmpty && !range.isEmpty
            && range.upperBound - start <= Limits.segment
    }
}
