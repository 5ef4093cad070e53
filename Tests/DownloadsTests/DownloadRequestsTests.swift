import Testing

@testable import Downloads

struct DownloadRequestsTests {
    private let start = ContinuousClock.now

    /// Requests that have so many fetches each.
    private func requests(_ fetches: [Int], small: Set<Int> = []) -> DownloadRequests {
        let requests = DownloadRequests(at: start)
        for (index, count) in fetches.enumerated() {
            let request = requests.begin(isSmall: small.contains(index + 1))
            for _ in 0..<count {
                requests.addFetch(to: request)
            }
        }
        return requests
    }

    /// As `requests`, on a link that carries a megabyte in a moment: all requests that may be are used.
    private func fastRequests(_ fetches: [Int], small: Set<Int> = []) -> DownloadRequests {
        let requests = requests(fetches, small: small)
        for step in 0...4 {
            let now = start + .milliseconds(300 * step)
            _ = requests.measure(bytes: Int64(step) << 20, pieces: step, most: 4, now: now)
        }
        return requests
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var isFast = false
        /// The number of fetches of each request.
        var fetches: [Int]
        var small: Set<Int> = []
        var ending = 0
        var mayBegin: Bool
        /// The requests beyond the width.
        var surplus: Set<Int> = []
    }

    static let cases = [
        Case(testDescription: "the first one", fetches: [], mayBegin: true),
        Case(testDescription: "one at a time", fetches: [1], mayBegin: false),
        Case(testDescription: "one that has no fetch does not count", fetches: [0], mayBegin: true),
        Case(testDescription: "a key does not count", fetches: [1], small: [1], mayBegin: true),
        Case(testDescription: "the next one begins before this one ends", fetches: [1], ending: 1, mayBegin: true),
        Case(
            testDescription: "but only one", fetches: [1, 1], ending: 2, mayBegin: false),
        Case(
            testDescription: "those beyond the width are the latest", fetches: [1, 1, 1], mayBegin: false,
            surplus: [2, 3]),
        Case(
            testDescription: "one that began early stays", fetches: [1, 1, 1], ending: 1, mayBegin: false, surplus: [3]),
        Case(
            testDescription: "small ones stay", fetches: [1, 1, 1], small: [2], mayBegin: false, surplus: [3]),
        Case(testDescription: "a fast link is used in full", isFast: true, fetches: [1, 1, 1], mayBegin: true),
        Case(testDescription: "and no more", isFast: true, fetches: [1, 1, 1, 1], ending: 2, mayBegin: false),
        Case(
            testDescription: "not even for keys", isFast: true, fetches: [1, 1, 1, 1], small: [1, 2], mayBegin: false),
    ]

    @Test(arguments: cases)
    func theWidthDecides(download: Case) {
        var requests = requests(download.fetches, small: download.small)
        if download.isFast {
            requests = fastRequests(download.fetches, small: download.small)
            #expect(requests.width(atMost: 4) == 4)
        }
        #expect(requests.mayBegin(atMost: 4, ending: download.ending) == download.mayBegin)
        #expect(requests.surplus(atMost: 4, ending: download.ending) == download.surplus)
    }

    @Test func aRequestLastsAsLongAsItsFetches() {
        let requests = requests([2])
        requests.endFetch(of: 1)
        #expect(!requests.mayBegin(atMost: 4, ending: 0))
        requests.endFetch(of: 1)
        #expect(requests.mayBegin(atMost: 4, ending: 0))
        // An end that is reported twice changes nothing.
        requests.endFetch(of: 1)
        #expect(requests.mayBegin(atMost: 4, ending: 0))
    }

    @Test func smallRequestsAreForgottenWithTheirFetches() {
        let requests = requests([1, 1], small: [1])
        #expect(!requests.mayBegin(atMost: 4, ending: 0))
        requests.endFetch(of: 1)
        #expect(!requests.mayBegin(atMost: 4, ending: 0))
        requests.removeAll()
        #expect(requests.mayBegin(atMost: 4, ending: 0))
    }

    @Test(
        "a request ends soon if its rest takes no longer than the way to the origin",
        arguments: [(1, 10_000, true), (1, 10_001, false), (2, 1, false)])
    func ends(fetches: Int, missing: Int64, isEnding: Bool) {
        let requests = requests([fetches])
        #expect(!requests.isEnding(1, missing: 0, rate: 100_000))
        requests.recordFirstByte(after: .milliseconds(300))
        requests.recordFirstByte(after: .milliseconds(100))
        requests.recordFirstByte(after: .milliseconds(200))
        #expect(requests.isEnding(1, missing: missing, rate: 100_000) == isEnding)
    }

    @Test("beside others, only a far origin is asked early", arguments: [(49, false), (50, true)])
    func far(milliseconds: Int, asksEarly: Bool) {
        let requests = fastRequests([1, 1])
        requests.recordFirstByte(after: .milliseconds(milliseconds))
        #expect(!requests.measuresLatency)
        #expect(requests.asksEarly(atMost: 8) == asksEarly)
        // All that may be are under way.
        #expect(!requests.asksEarly(atMost: 4))
    }

    /// Two segments whose bodies start late and then come fast: more requests would fill the time.
    @Test(arguments: [(400, true), (nil, false)] as [(Int?, Bool)])
    func aFarOriginIsTriedInFull(wait: Int?, isTried: Bool) {
        let requests = requests([1])
        for step in 1...3 {
            let now = start + .milliseconds(500 * step)
            requests.recordEnd(
                of: 1, after: wait.map { .milliseconds($0) }, of: .milliseconds(500), bytes: 100_000)
            _ = requests.measure(bytes: Int64(step) * 100_000, pieces: step, most: 4, now: now)
        }
        #expect((requests.width(atMost: 4) == 4) == isTried)
    }

    /// The share of the link that players leave says nothing about it.
    @Test func besidePlayersNothingIsMeasured() {
        let requests = requests([1])
        for step in 0...8 {
            let now = start + .milliseconds(300 * step)
            let isNarrowed = requests.measure(bytes: Int64(step) << 20, pieces: step, most: nil, now: now)
            #expect(!isNarrowed)
        }
        #expect(requests.width(atMost: 4) == 1)
    }
}
