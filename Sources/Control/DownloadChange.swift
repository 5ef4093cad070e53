/// What a person does with a download that there is: `POST /api/v1/downloads/<id>/<change>`. The raw values are part of
/// the API.
public enum DownloadChange: String, Sendable, CaseIterable {
    /// Stops it until it is resumed.
    case pause
    /// Lets it go on, whatever it was stopped by; one that waits tries at once.
    case resume
    /// Gives it up; what is stored is kept.
    case cancel
}
