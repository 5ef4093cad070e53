import Store
import Testing

@testable import Fetching

/// The bytes of a folder of which several names are one file.
@Suite struct PieceListTests {
    private static let one = FileIdentity.File(device: 1, inode: 1)
    private static let other = FileIdentity.File(device: 1, inode: 2)

    /// The names that are inserted with their sizes and files, those that are removed, and the bytes.
    @Test(
        arguments: [
            ([("a", 5, nil), ("b", 7, nil)], [], 12),
            ([("a", 5, one), ("b", 5, one)], [], 5),
            ([("a", 5, one), ("b", 5, one), ("c", 7, other), ("d", 1, nil)], [], 13),
            ([("a", 5, one), ("b", 5, one)], ["a"], 5),
            ([("a", 5, one), ("b", 5, one)], ["a", "b"], 0),
            ([("a", 5, one), ("a", 9, nil)], [], 9),
            ([("a", 5, nil), ("a", 5, one), ("b", 5, one)], ["b", "b", "c"], 5),
        ] as [([(String, Int64, FileIdentity.File?)], [String], Int64)])
    func countsEachFileOnce(
        _ names: [(String, Int64, FileIdentity.File?)], _ removed: [String], _ bytes: Int64
    ) {
        var list = PieceList()
        for (name, size, file) in names {
            list.insert(name, size: size, sharing: file)
        }
        for name in removed {
            list.remove(name)
        }
        #expect(list.bytes == bytes && PieceList.bytes(of: [list]) == bytes)
        #expect(list.bytesByName == list.sizes.values.reduce(0, +))
    }

    @Test func aFileInTwoFoldersIsCountedOnce() {
        var first = PieceList()
        first.insert("a", size: 5)
        first.share("a", as: Self.one)
        first.share("none", as: Self.one)
        var second = PieceList()
        second.insert("b", size: 5, sharing: Self.one)
        second.insert("c", size: 2)
        #expect(PieceList.bytes(of: [first, second]) == 7)
        #expect(first.bytes == 5 && second.bytes == 7)
        first.remove("a")
        #expect(PieceList.bytes(of: [first, second]) == 7 && first.bytes == 0)
    }
}
