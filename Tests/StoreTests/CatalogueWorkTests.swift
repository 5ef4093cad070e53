import Foundation
import GRDB
import GRDBSQLite
import Synchronization
import TestSupport
import Testing

@testable import Store

/// The catalogue's work for an asset with many keys. A recording of a live stream finds its keys one by one: a write whose work
/// grows with the keys that are already there makes that of all of them grow with their square.
@Suite struct CatalogueWorkTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func key(_ number: Int) -> KeyRecord {
        KeyRecord(asset: "film-id", number: number, url: "https://keys.example/\(number).key")
    }

    private func open(_ name: String) async throws -> Catalogue {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        let catalogue = try Catalogue(path: folder.path(name), access: .readWrite)
        try await catalogue.save(.init(assets: [.sample("film")]))
        await catalogue.flush()
        return catalogue
    }

    // MARK: The database

    private final class Steps: Sendable {
        let count = Mutex(0)
    }

    /// Counts the instructions of SQLite's virtual machine that saving so many keys one by one takes.
    private func steps(forKeys count: Int) async throws -> Int {
        let catalogue = try await open("steps-\(count)")
        let steps = Steps()
        try await countSteps(of: catalogue, in: steps)
        for number in 0..<count {
            try await catalogue.save(.init(keys: [key(number)]))
        }
        try await countSteps(of: catalogue, in: nil)
        return steps.count.withLock { $0 }
    }

    /// - Parameter steps: it is used until the next call; nil ends the count.
    private func countSteps(of catalogue: Catalogue, in steps: Steps?) async throws {
        try await catalogue.queue.writeWithoutTransaction { database in
            guard let steps else {
                return sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
            }
            let handler: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
                if let context {
                    Unmanaged<Steps>.fromOpaque(context).takeUnretainedValue().count.withLock { $0 += 1 }
                }
                return 0
            }
            sqlite3_progress_handler(
                database.sqliteConnection, 1, handler, Unmanaged.passUnretained(steps).toOpaque())
        }
    }

    @Test func aKeyTakesTheSameWorkHoweverManyThereAre() async throws {
        let few = try await steps(forKeys: 250)
        let many = try await steps(forKeys: 1000)
        // Four times as many keys: with the square it was fifteen times the work.
        #expect(many < 5 * few, "\(few), \(many)")
    }

    // MARK: The record

    /// Counts the bytes that are written to the record for so many keys, each one written before the next is found.
    private func bytes(forKeys count: Int) async throws -> Int {
        let name = "bytes-\(count)"
        let catalogue = try await open(name)
        var bytes = 0
        var former = try files(in: folder.path(name + "/records"))
        for number in 0..<count {
            try await catalogue.save(.init(keys: [key(number)]))
            await catalogue.flush()
            let files = try files(in: folder.path(name + "/records"))
            for (inode, size) in files {
                bytes += size - (former[inode] ?? 0)
            }
            former = files
        }
        return bytes
    }

    /// The sizes of a folder's files, by inode: a file that was only renamed is the same.
    private func files(in path: String) throws -> [Int: Int] {
        try FileManager.default.contentsOfDirectory(atPath: path).reduce(into: [:]) { sizes, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            let inode = try #require(attributes[.systemFileNumber] as? Int)
            sizes[inode] = attributes[.size] as? Int
        }
    }

    @Test func aKeyTakesTheSameBytesHoweverManyThereAre() async throws {
        let few = try await bytes(forKeys: 250)
        let many = try await bytes(forKeys: 1000)
        // A record is written anew each time that it has doubled. With the square it was fifteen times the bytes.
        #expect(many < 6 * few, "\(few), \(many)")
        #expect(many < 1000 * 1000, "\(many)")
    }
}
