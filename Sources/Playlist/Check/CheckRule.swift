/// Rules of a check, in addition to the errors that make a text unreadable. Raw values are stable.
enum CheckRule: String, CaseIterable {
    // Any text
    case byteOrderMark
    case unexpectedBlank
    case longLine
    case openEnd
    case unknownTag
    case wrongKind
    case repeatedTag
    case versionTooLow
    case versionHigh
    case variables
    // Attribute lists
    case attributeBlank
    case attributeType
    case attributeUnknown
    case attributeMissing
    case hexadecimalCase
    // Media playlists
    case noTargetDuration
    case fractionalTargetDuration
    case durationOverTarget
    case noComma
    case noSegments
    case latePosition
    case unknownType
    case endless
    case gap
    case unknownMethod
    case needsDRM
    case dataKey
    case mapChange
    case fragmentedDiscontinuity
    case noMap
    case segmentExtension
    case badDate
    case dateBackwards
    case badStart
    case badBitRate
    case deltaUpdate
    case lowLatency
    case dateRange
    // Multivariant playlists
    case noVariants
    case bandwidth
    case noCodecs
    case missingGroup
    case unusedGroup
    case groupMember
    case unequalGroups
    case sessionData
    case stableID
    case mirror
    // A presentation
    case unresolvable
    case insecure
    case selfReference
    case notMedia
    case targetDurationsDiffer
    case durationsDiffer
    case discontinuitiesDiffer
    case typesDiffer
    case datesDiffer
    case iFrames
    case peakOverBandwidth

    /// Severity of a finding.
    var severity: PlaylistDiagnostic.Severity {
        switch self {
        case .byteOrderMark, .longLine, .unknownMethod, .noVariants, .missingGroup, .unresolvable, .selfReference,
            .notMedia:
            .error
        case .unknownTag, .attributeUnknown, .noCodecs, .unusedGroup, .mirror: .note
        default: .warning
        }
    }

    /// The clause of the rule, unless a finding names another.
    var clause: String {
        switch self {
        case .byteOrderMark, .unexpectedBlank, .longLine, .openEnd, .unknownTag, .wrongKind: "RFC 8216 §4.1"
        case .repeatedTag, .latePosition: "RFC 8216 §4.3.3"
        case .versionTooLow, .versionHigh: "RFC 8216 §7"
        case .variables: "rfc8216bis §4.3"
        case .attributeBlank, .attributeType, .attributeUnknown, .attributeMissing, .hexadecimalCase: "RFC 8216 §4.2"
        case .noTargetDuration, .fractionalTargetDuration, .durationOverTarget: "RFC 8216 §4.3.3.1"
        case .noComma, .noSegments, .segmentExtension: "RFC 8216 §4.3.2.1"
        case .unknownType: "RFC 8216 §4.3.3.5"
        case .endless: "RFC 8216 §4.3.3.4"
        case .gap: "rfc8216bis §4.4.4.7"
        case .unknownMethod, .needsDRM, .dataKey: "RFC 8216 §4.3.2.4"
        case .mapChange, .noMap: "RFC 8216 §4.3.2.5"
        case .fragmentedDiscontinuity: "RFC 8216 §4.3.2.3"
        case .badDate, .dateBackwards: "RFC 8216 §4.3.2.6"
        case .badStart: "RFC 8216 §4.3.5.2"
        case .badBitRate: "rfc8216bis §4.4.4.8"
        case .deltaUpdate: "rfc8216bis §4.4.5.2"
        case .lowLatency: "rfc8216bis §4.4.3.8"
        case .dateRange: "rfc8216bis §4.4.5.1"
        default: presentationClause
        }
    }

    private var presentationClause: String {
        switch self {
        case .bandwidth, .noCodecs, .missingGroup, .noVariants, .peakOverBandwidth: "RFC 8216 §4.3.4.2"
        case .unusedGroup, .groupMember: "RFC 8216 §4.3.4.1"
        case .unequalGroups: "RFC 8216 §4.3.4.1.1"
        case .sessionData: "RFC 8216 §4.3.4.4"
        case .stableID: "rfc8216bis §4.4.6.2"
        case .iFrames: "RFC 8216 §4.3.4.3"
        case .insecure: "RFC 8216 §10"
        case .datesDiffer, .typesDiffer, .targetDurationsDiffer, .durationsDiffer, .discontinuitiesDiffer, .mirror:
            "RFC 8216 §6.2.4"
        default: "RFC 8216 §4.1"
        }
    }
}
