/// Names of files that every disk takes, a USB stick's as well.
enum FileName {
    /// Characters that FAT refuses, or that mean something in a path.
    private static let refused = Set("/\\:*?\"<>|")

    /// A longer name is refused by most file systems; an ending and a number must still fit.
    private static let longest = 200

    /// The text as a part of a file's name: without separators and control characters, not hidden, not too long.
    static func safe(_ text: String) -> String {
        var safe = ""
        for character in text {
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            let isRefused = refused.contains(character) || isControl
            let next = isRefused ? "_" : String(character)
            guard safe.utf8.count + next.utf8.count <= longest else { break }
            safe += next
        }
        while safe.first == "." || safe.first == " " {
            safe.removeFirst()
        }
        while safe.last == "." || safe.last == " " {
            safe.removeLast()
        }
        return safe
    }
}
