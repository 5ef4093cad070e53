import Testing

@testable import Substitution

struct MissingResourcesTests {
    @Test(
        arguments: [
            (MissingResources(), ["the playlist of 720p is not known yet"]),
            (MissingResources(segments: (3, 24)), ["3 of 24 segments of 720p are missing"]),
            (MissingResources(segments: (1, 24)), ["1 of 24 segments of 720p is missing"]),
            (MissingResources(segments: (1, 1)), ["1 of 1 segment of 720p is missing"]),
            (MissingResources(segments: (0, 24), keys: 1), ["the key of 720p is missing"]),
            (MissingResources(segments: (0, 24), keys: 2), ["2 keys of 720p are missing"]),
            (
                MissingResources(segments: (2, 4), keys: 1, sections: 1),
                [
                    "2 of 4 segments of 720p are missing", "the initialization section of 720p is missing",
                    "the key of 720p is missing",
                ]
            ),
            (MissingResources(segments: (0, 24), expiredKeys: 1), ["the key of 720p has expired"]),
            (
                MissingResources(segments: (0, 24), expiredKeys: 2, revokedKeys: 3),
                ["2 keys of 720p have expired", "3 keys of 720p were revoked"]
            ),
            (MissingResources(segments: (0, 24)), []),
        ] as [(MissingResources, [String])])
    func describesMissingResources(missing: MissingResources, sentences: [String]) {
        #expect(missing.sentences(about: "720p") == sentences)
        #expect(missing.sentences(about: nil) == sentences.map { $0.replacing(" of 720p", with: "") })
    }
}
