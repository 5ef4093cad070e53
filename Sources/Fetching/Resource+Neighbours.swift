/// Resources that one request can bring.
extension Resource {
    /// The resources in runs, by their places: those of a run are parts of one file, each beginning where the one
    /// before ends, and together no more than is ever taken from an origin at once.
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
