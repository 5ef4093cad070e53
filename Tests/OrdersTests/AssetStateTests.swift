import Orders
import Testing

@Suite struct AssetStateTests {
    private static func facts(_ download: JobState?, _ change: (inout AssetState.Facts) -> Void = { _ in })
        -> AssetState.Facts
    {
        var facts = AssetState.Facts()
        facts.download = download
        change(&facts)
        return facts
    }

    @Test(arguments: [
        (facts(nil), AssetState.notStored, AssetState.notStored),
        (facts(nil) { $0.hasBytes = true }, .cached, .cached),
        // An asset that was played, and not downloaded, is cached even if it is complete.
        (facts(nil) { ($0.hasBytes, $0.isComplete) = (true, true) }, .cached, .cached),
        (facts(.complete) { ($0.hasBytes, $0.isComplete) = (true, true) }, .saved, .saved),
        (facts(.complete) { $0.hasBytes = true }, .partlySaved, .partlySaved),
        (facts(.queued), .queued, .notStored),
        (facts(.running) { $0.hasBytes = true }, .downloading, .partlySaved),
        (facts(.running) { ($0.hasBytes, $0.isRecording) = (true, true) }, .recording, .partlySaved),
        (facts(.paused) { $0.hasBytes = true }, .paused, .partlySaved),
        (facts(.waiting), .waiting, .notStored),
        (facts(.failed) { $0.hasBytes = true }, .failed, .partlySaved),
        (facts(.failed) { $0.isPurged = true }, .failed, .purged),
        (facts(.cancelled) { $0.hasBytes = true }, .partlySaved, .partlySaved),
        (facts(.complete) { ($0.hasBytes, $0.isComplete, $0.isExpired) = (true, true, true) }, .expired, .saved),
        (facts(.failed) { ($0.isExpired, $0.isUnreadable) = (true, true) }, .unreadable, .notStored),
    ])
    func theWordFollowsFromTheFacts(facts: AssetState.Facts, state: AssetState, stored: AssetState) {
        #expect(facts.state == state && facts.stored == stored)
    }

    @Test func aWordIsWrittenWithBlanksForPeople() {
        #expect(AssetState.partlySaved.words == "partly saved" && AssetState.partlySaved.rawValue == "partly-saved")
        #expect(AssetState.allCases.allSatisfy { AssetState(rawValue: $0.words.replacing(" ", with: "-")) == $0 })
    }
}
