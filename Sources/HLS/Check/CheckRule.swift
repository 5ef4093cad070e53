/// Rules of a check, in addition to the errors that make a text unreadable. Raw values are stable.
enum CheckRule: String, CaseIterable {
    // Any text
    case byteOrderMark, unexpectedBlank, longLine, openEnd, unknownTag, wrongKind, repeatedTag, versionTooLow,
        versionHigh, variables
    // Attribute lists
    case attributeBlank, attributeType, attributeUnknown, attributeMissing, hexadecimalCase
    // Media playlists
    case noTargetDuration, fractionalTargetDuration, durationOverTarget, noComma, noSegments, latePosition,
        unknownType, endless, gap, unknownMethod, noKeyURI, needsDRM, dataKey, keyAttributes,
        mapChange, fragmentedDiscontinuity, noMap, noTables, segmentExtension, badDate, dateZone, dateBackwards,
        badStart, badBitRate, deltaUpdate,
        lowLatency, dependentSegment, dateRange
    // Multivariant playlists
    case noVariants, bandwidth, noCodecs, incompleteCodecs, missingGroup, unusedGroup, groupMember, unequalGroups,
        sessionData, stableID, partialScore, missingPathway
    // A presentation
    case unresolvable, insecure, selfReference, notMedia, targetDurationsDiffer, durationsDiffer,
        discontinuitiesDiffer, typesDiffer, datesDiffer, iFrames, peakOverBandwidth

    var severity: PlaylistDiagnostic.Severity {
        switch self {
        case .byteOrderMark, .longLine, .noTargetDuration, .unknownMethod, .noKeyURI, .needsDRM, .noVariants,
            .missingGroup, .unresolvable, .selfReference, .notMedia:
            .error
        case .attributeUnknown, .noCodecs, .unusedGroup: .note
        default: .warning
        }
    }

    var clause: String {
        switch self {
        case .repeatedTag, .latePosition: "RFC 8216 §4.3.3"
        case .unknownTag: "RFC 8216 §6.3.1"
        // RFC 8216 defines the versions up to 7.
        case .versionTooLow: "RFC 8216 §7"
        case .versionHigh: "rfc8216bis §8"
        case .variables: "rfc8216bis §4.3"
        case .attributeBlank, .attributeType, .attributeUnknown, .attributeMissing, .hexadecimalCase: "RFC 8216 §4.2"
        case .noTargetDuration, .fractionalTargetDuration, .durationOverTarget: "RFC 8216 §4.3.3.1"
        case .noComma, .noSegments, .segmentExtension: "RFC 8216 §4.3.2.1"
        case .unknownType: "RFC 8216 §4.3.3.5"
        case .endless: "RFC 8216 §4.3.3.4"
        case .gap: "rfc8216bis §4.4.4.7"
        case .unknownMethod, .noKeyURI, .needsDRM, .dataKey, .keyAttributes: "RFC 8216 §4.3.2.4"
        case .mapChange, .noMap: "RFC 8216 §4.3.2.5"
        case .noTables: "RFC 8216 §4.3.3.6"
        case .fragmentedDiscontinuity: "RFC 8216 §4.3.2.3"
        case .badDate, .dateZone, .dateBackwards: "RFC 8216 §4.3.2.6"
        case .badStart: "RFC 8216 §4.3.5.2"
        case .badBitRate: "rfc8216bis §4.4.4.8"
        case .deltaUpdate: "rfc8216bis §4.4.5.2"
        case .lowLatency: "rfc8216bis §4.4.3.8"
        case .dependentSegment: "RFC 8216 §4.3.5.1"
        case .dateRange: "rfc8216bis §4.4.5.1"
        case .bandwidth, .noCodecs, .incompleteCodecs, .missingGroup, .noVariants, .peakOverBandwidth:
            "RFC 8216 §4.3.4.2"
        case .unusedGroup, .groupMember: "RFC 8216 §4.3.4.1"
        case .unequalGroups: "RFC 8216 §4.3.4.1.1"
        case .sessionData: "RFC 8216 §4.3.4.4"
        case .stableID, .partialScore: "rfc8216bis §4.4.6.2"
        case .missingPathway: "rfc8216bis §4.4.6.6"
        case .iFrames: "RFC 8216 §4.3.4.3"
        case .insecure: "RFC 8216 §10"
        case .datesDiffer, .typesDiffer, .targetDurationsDiffer, .durationsDiffer, .discontinuitiesDiffer:
            "RFC 8216 §6.2.4"
        default: "RFC 8216 §4.1"
        }
    }
}
