internal import Recordings
internal import WeirAPI

/// Keeps the last state of each channel list in the folder `lists` of the state folder.
struct ListFiles: ListStore {
    let state: StateDirectory

    private static let folder = "lists"
    /// A list of 64 MB with the names of its channels.
    private static let longest = 128 << 20

    private static func file(of list: String) -> String { "\(folder)/\(list).m3u" }

    func read(_ list: String) -> [UInt8]? { try? state.readBytes(Self.file(of: list), limit: Self.longest).get() }

    func write(_ list: String, _ text: [UInt8]) -> String? {
        do throws(APIError) {
            try state.makeFolder(Self.folder)
            try state.writeFile(Self.file(of: list), bytes: text, isDurable: true)
            return nil
        } catch {
            return error.message
        }
    }

    func remove(_ list: String) { state.removeFile(Self.file(of: list)) }
}
