/// The words for what was seen of a film.
enum SeenText {
    /// Returns `43 %`, or `watched`; nil for a film that was not begun.
    /// - Parameters:
    ///   - position: where its last player left it, in seconds; nil if it begins anew.
    ///   - duration: in seconds; nil if it is not known.
    static func words(_ position: Double?, of duration: Double?, isWatched: Bool?) -> String? {
        guard let position, let duration, duration > 0 else {
            return isWatched == true ? "watched" : nil
        }
        let percent = min(99, max(1, Int(100 * position / duration)))
        return "\(percent) %"
    }
}
