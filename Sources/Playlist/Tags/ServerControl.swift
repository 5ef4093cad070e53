/// EXT-X-SERVER-CONTROL (rfc8216bis §4.4.3.8): which delivery directives (§6.2.5) the origin answers to.
public struct ServerControl: Hashable, Sendable {
    /// CAN-SKIP-UNTIL: how far before the end segments may be skipped, in seconds; nil where `_HLS_skip` is not
    /// answered.
    public let canSkipUntil: Double?
    /// CAN-SKIP-DATERANGES=YES: `_HLS_skip=v2` is answered too.
    public let canSkipDateRanges: Bool
    /// HOLD-BACK: how far before the end players should stay, in seconds.
    public let holdBack: Double?
    /// PART-HOLD-BACK: the same for players that play parts, in seconds.
    public let partHoldBack: Double?
    /// CAN-BLOCK-RELOAD=YES: `_HLS_msn` and `_HLS_part` are answered.
    public let canBlockReload: Bool
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        canSkipUntil = try attributes.decimalFloat("CAN-SKIP-UNTIL")
        canSkipDateRanges = attributes.flag("CAN-SKIP-DATERANGES")
        holdBack = try attributes.decimalFloat("HOLD-BACK")
        partHoldBack = try attributes.decimalFloat("PART-HOLD-BACK")
        canBlockReload = attributes.flag("CAN-BLOCK-RELOAD")
        self.line = line + 1
    }
}
