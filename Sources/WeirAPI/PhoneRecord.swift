import CLinux
import Glibc

/// A phone in the file `phones` of the state directory.
package struct PhoneRecord: Codable, Equatable, Sendable {
    package var name: String
    /// The SHA-256 of its token, in hexadecimal digits. It identifies the phone: a token is never used again.
    package var digest: String
    /// Time when its link was made, in seconds since 1970.
    package var created: Int
    /// Time of its latest request, in seconds since 1970.
    package var seen: Int?

    package init(name: String, digest: String, created: Int) {
        self.name = name
        self.digest = digest
        self.created = created
    }

    package var phone: API.Phone { API.Phone(name: name, created: created, seen: seen) }

    /// The error in a name, as a sentence; nil if it is valid.
    package static func fault(ofName name: String) -> String? {
        guard name.count <= 40, !name.isEmpty, name.unicodeScalars.allSatisfy({ !$0.properties.isNameless }) else {
            return "a phone's name has 1 to 40 letters, digits, spaces and signs"
        }
        guard name.first != " ", name.last != " " else { return "a phone's name begins and ends with no space" }
        return nil
    }

    /// Most phones at a time.
    package static let most = 16
}

extension Unicode.Scalar.Properties {
    /// True for control, format and unassigned characters and line ends, which a name cannot have.
    fileprivate var isNameless: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension StateDirectory {
    private static let phonesFile = "phones"
    /// The longest file of phones that is read, in bytes; sixteen take about 4 KB.
    private static let phonesLimit = 64 << 10

    /// The phones that were admitted. Throws `.cannotWrite` for a file that is not in order: then no phone is admitted.
    package func phones() throws(APIError) -> [PhoneRecord] {
        switch readFile(Self.phonesFile, limit: Self.phonesLimit) {
        case .failure(.noSuchFile): return []
        case .failure(let error): throw failure("has phones that cannot be read", error)
        case .success(let line):
            guard isPrivate(Self.phonesFile), let phones = try? API.decode([PhoneRecord].self, from: Array(line.utf8))
            else {
                throw APIError(
                    .cannotWrite, "\(path)/\(Self.phonesFile) is damaged, or others may read it: no phone is admitted",
                    next: "weir page --revoke --all, then weir page --phone NAME")
            }
            return phones
        }
    }

    /// Replaces the phones.
    package func writePhones(_ phones: [PhoneRecord]) throws(APIError) {
        try writeFile(Self.phonesFile, String(decoding: API.encode(phones), as: UTF8.self))
    }

    /// Deletes the record of the phones.
    package func removePhones() throws(APIError) {
        guard unlink("\(path)/\(Self.phonesFile)") == 0 || errno == ENOENT else {
            throw failure("cannot be written", SystemError(errno))
        }
    }

    /// True if a file belongs to this user, and no other user may read or write it.
    package func isPrivate(_ file: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(file)", &status) == 0 && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }
}
