import Testing

@testable import Sessions

@Suite struct ViewingHistoryTests {
    private typealias Entry = ViewingHistory.Entry

    @Test func aFilmGoesOnWhereItWasLeftAndBeginsAnewAtItsBeginningAndItsEnd() {
        let known = Entry(position: 600, duration: 6000, isWatched: false, time: 1)
        let watched = Entry(position: 0, duration: 6000, isWatched: true, time: 1)
        let cases: [(position: Double, known: Entry?, rest: Double?, isWatched: Bool)] = [
            (10, nil, 10, false),
            (2580, nil, 2580, false),
            (5699, nil, 5699, false),
            (5700, nil, nil, true),
            (9000, nil, nil, true),
            (3, known, nil, false),
            // A film that was watched once stays watched.
            (2580, watched, 2580, true),
            (3, watched, nil, true),
        ]
        for (position, known, rest, isWatched) in cases {
            let entry = Entry(position, of: 6000, after: known, at: 7)
            #expect(entry?.rest == rest && entry?.isWatched == isWatched && entry?.time == 7, "\(position)")
        }
        // It was opened and closed again.
        #expect(Entry(9, of: 6000, after: nil, at: 7) == nil)
        // Ten seconds are a large part of a short film.
        #expect(Entry(1, of: 12, after: nil, at: 7)?.rest == 1)
    }
}
