extension AccessEvent {
    /// The fields of a line, in their order: AVPlayerItemAccessLog's own.
    public static let fields = """
        date time uri cs-guid s-ip s-ip-changes sc-count c-duration-downloaded c-start-time c-duration-watched bytes \
        c-observed-bitrate sc-indicated-bitrate c-stalls c-frames-dropped c-startup-time c-overdue c-reason \
        c-observed-min-bitrate c-observed-max-bitrate c-observed-bitrate-sd s-playback-type sc-wwan-count c-switch-bitrate
        """

    /// The event as one line of a log.
    public func line(_ style: LogStyle) -> String {
        var line = LogLine(style)
        line.add(date: began)
        line.add(word: uri)
        line.add(word: guid)
        line.add(word: serverAddress)
        line.add(serverAddress == nil ? nil : serverAddressChanges)
        line.add(requests)
        line.add(fixed: downloaded)
        line.add(fixed: startOffset)
        line.add(fixed: watched)
        line.add(Int(bytes.all))
        line.add(fixed: observed.bitsPerSecond)
        line.add(indicated)
        line.add(stalls)
        line.add(framesDropped)
        line.add(fixed: startup)
        line.add(overdue)
        line.addUnknown()  // c-reason
        line.add(fixed: observed.count > 0 ? observed.minimum : nil)
        line.add(fixed: observed.count > 0 ? observed.maximum : nil)
        line.add(fixed: observed.deviation)
        line.add(word: playbackType.rawValue)
        line.addUnknown()  // sc-wwan-count
        line.addUnknown()  // c-switch-bitrate
        return line.text
    }
}

extension ErrorEvent {
    /// The fields of a line, in their order: AVPlayerItemErrorLog's own.
    public static let fields = "date time uri cs-guid s-ip status domain comment"

    /// The event as one line of a log.
    public func line(_ style: LogStyle) -> String {
        var line = LogLine(style)
        line.add(date: time)
        line.add(word: uri)
        line.add(word: guid)
        line.addUnknown()  // s-ip
        line.add(status)
        line.add(text: domain.rawValue)
        line.add(text: comment)
        return line.text
    }
}
