import Foundation
import TestSupport
import Testing

@testable import Store

/// Stores of a Weir that knew sums and records, but neither the lives of keys, nor summaries, nor places; and of one that
/// knew these, but not what comes from the network.
@Suite struct FormerCatalogueTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ access: Catalogue.Access = .readWrite) throws -> Catalogue {
        try Catalogue(path: folder.path, access: access)
    }

    /// As SQLite has it after the step "10", with a sum that was worked out by hand.
    private static let former = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1'), ('2'), ('3'), ('4'), ('5'), ('7'), ('8'), ('10');
        CREATE TABLE asset (
            id TEXT PRIMARY KEY, name TEXT NOT NULL, title TEXT, origin TEXT NOT NULL, created INTEGER NOT NULL,
            fields TEXT, revises TEXT UNIQUE REFERENCES asset ON DELETE SET NULL);
        CREATE UNIQUE INDEX assetName ON asset (name) WHERE revises IS NULL;
        CREATE UNIQUE INDEX assetOrigin ON asset (origin) WHERE revises IS NULL;
        \(FormerTables.lasting)
        CREATE TABLE storage (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, expires INTEGER,
            afterFirstPlay INTEGER, priority TEXT NOT NULL, isExcluded BOOLEAN NOT NULL,
            firstPlayed INTEGER, lastPlayed INTEGER, purged INTEGER, purgedBytes INTEGER, purgeCause TEXT);
        CREATE TABLE checksum (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, revision INTEGER NOT NULL, sum TEXT NOT NULL);
        INSERT INTO asset VALUES ('a-id', 'a', 'A title', 'http://o/a', 1, 'X-Token: c', NULL);
        INSERT INTO asset VALUES ('a-new', 'a', NULL, 'http://o/a', 2, NULL, 'a-id');
        INSERT INTO playlist VALUES ('a-id', '', 'http://o/m', CAST('#EXTM3U' AS BLOB), 5, NULL);
        INSERT INTO playlist VALUES ('a-id', 'video', 'http://o/v', x'00FF', 6, '{"t":"b"}');
        INSERT INTO key VALUES ('a-id', 0, 'http://o/0.key');
        INSERT INTO download VALUES ('a-id', 'video', 'failed', 'missing', 'gone', 7, '{"version":1}', 'space');
        INSERT INTO recording VALUES ('a-id', 'video');
        INSERT INTO storage VALUES ('a-id', 9, 8, 'important', 1, 3, 4, 5, 6, 'space');
        INSERT INTO checksum VALUES ('a-id', 3, '\(sum)');
        INSERT INTO checksum VALUES ('a-new', 1, '09521ded6afc4ec117e67560cd17a1b0a4766f30b83ef4e2e7553f6d7846db2e');
        """

    /// The same after the steps "11", "12" and "9", with what these have room for.
    private static let latter =
        former + """
            INSERT INTO grdb_migrations VALUES ('11'), ('12'), ('9');
            ALTER TABLE key ADD COLUMN came INTEGER;
            ALTER TABLE key ADD COLUMN firstPlayed INTEGER;
            ALTER TABLE key ADD COLUMN expires INTEGER;
            ALTER TABLE key ADD COLUMN dated INTEGER;
            ALTER TABLE key ADD COLUMN lapsed INTEGER;
            ALTER TABLE key ADD COLUMN invalidated INTEGER;
            ALTER TABLE key ADD COLUMN digest TEXT;
            ALTER TABLE storage ADD COLUMN keysExpire INTEGER;
            ALTER TABLE storage ADD COLUMN keysAfterFirstPlay INTEGER;
            CREATE TABLE summary (
                asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, version INTEGER NOT NULL,
                revision INTEGER NOT NULL, stamp TEXT NOT NULL, local TEXT NOT NULL, isLive BOOLEAN NOT NULL,
                duration DOUBLE, bytes INTEGER NOT NULL, cachedBytes INTEGER NOT NULL,
                hasArtwork BOOLEAN NOT NULL, quality TEXT, tracks TEXT NOT NULL);
            CREATE TABLE place (
                asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, path TEXT, mark TEXT,
                hasOther BOOLEAN NOT NULL, otherPath TEXT, otherMark TEXT);
            UPDATE key SET came = 10, expires = 11;
            INSERT INTO place VALUES ('a-id', '/nowhere', '01', 0, NULL, NULL);
            INSERT INTO summary VALUES ('a-id', 1, 3, 'stamp', 'complete', 0, 12.5, 6, 0, 0, '90p', '[]');
            UPDATE checksum SET sum = 'b7877712b943447e9838c19421679cf923df994264a123f06dec9964262483a5' WHERE asset = 'a-id';
            """

    private static let sum = "1873e45c0098a83c5604dfd54f2ae6b435dcaaf0a8b952151d559ffa07f3c77d"

    /// The same asset, as such a Weir wrote its record.
    private static let record = """
        {"asset":{"created":1,"fields":"X-Token: c","id":"a-id","name":"a","origin":"http://o/a","title":"A title"},\
        "downloads":[{"asset":"a-id","created":7,"errorCode":"missing","errorMessage":"gone","need":"space",\
        "renditions":"video","state":"failed","task":"{\\"version\\":1}"}],"format":1,\
        "keys":[{"asset":"a-id","number":0,"url":"http://o/0.key"}],\
        "playlists":[{"asset":"a-id","fetched":5,"rendition":"","text":"#EXTM3U","url":"http://o/m"},\
        {"asset":"a-id","bytes":"AP8=","fetched":6,"imports":{"t":"b"},"rendition":"video","url":"http://o/v"}],\
        "recordings":[{"asset":"a-id","rendition":"video"}],"revision":3,\
        "storage":[{"afterFirstPlay":8,"asset":"a-id","expires":9,"firstPlayed":3,"isExcluded":true,"lastPlayed":4,\
        "priority":"important","purgeCause":"space","purged":5,"purgedBytes":6}],"sum":"\(sum)"}
        """

    private static let asset = Catalogue.Contents(
        assets: [
            AssetRecord(id: "a-id", name: "a", title: "A title", origin: "http://o/a", created: 1, fields: "X-Token: c")
        ],
        playlists: [
            PlaylistRecord(asset: "a-id", rendition: "", url: "http://o/m", body: Array("#EXTM3U".utf8), fetched: 5),
            PlaylistRecord(
                asset: "a-id", rendition: "video", url: "http://o/v", body: [0, 255], imports: ["t": "b"], fetched: 6),
        ],
        keys: [KeyRecord(asset: "a-id", number: 0, url: "http://o/0.key")],
        downloads: [
            DownloadRecord(
                asset: "a-id", renditions: "video", state: "failed", task: "{\"version\":1}", need: "space",
                errorCode: "missing", errorMessage: "gone", created: 7)
        ],
        recordings: [RecordingRecord(asset: "a-id", rendition: "video")], storage: [StorageRecord(asset: "a-id", life)])

    private static var life: StorageLife {
        var life = StorageLife()
        life.policy = StoragePolicy(expires: 9, afterFirstPlay: 8, priority: .important, isExcludedFromBackups: true)
        (life.firstPlayed, life.lastPlayed) = (3, 4)
        life.purge = .init(date: 5, bytes: 6, cause: .space)
        return life
    }

    private static var all: Catalogue.Contents {
        var all = asset
        all.assets.append(
            AssetRecord(id: "a-new", name: "a", title: nil, origin: "http://o/a", created: 2, revises: "a-id"))
        return all
    }

    /// What the later one of the two says.
    private static var allOfLatter: Catalogue.Contents {
        var all = all
        all.keys = [KeyRecord(asset: "a-id", number: 0, url: "http://o/0.key", key)]
        all.places = [place]
        return all
    }

    private static let place = PlaceRecord(asset: "a-id", in: BundlePlace(path: "/nowhere", mark: "01"), other: nil)

    private func write(_ text: String = former) async throws {
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
        let path = folder.path("catalogue-1.sqlite")
        let result = try await ProcessRunner.run("python3", ["-c", script, path, text])
        #expect(result.exit == .code(0), "\(result.errors)")
    }

    @Test func itsRowsAreTakenOverWhole() async throws {
        try await write()
        try folder.write(Data(Self.record.utf8), to: "records/a-id.3.json")
        do {
            let catalogue = try open()
            #expect(catalogue.initial.sorted == Self.all.sorted && catalogue.recovery == nil)
            // What the later steps have made can be used.
            try await catalogue.save(
                .init(
                    keys: [KeyRecord(asset: "a-id", number: 1, url: "http://o/1.key", Self.key)],
                    places: [Self.place]))
            await catalogue.flush()
        }
        let catalogue = try open()
        #expect(catalogue.recovery == nil && catalogue.initial.keys.map(\.life) == [KeyLife(), Self.key])
        #expect(catalogue.initial.places.map(\.asset) == ["a-id"])
        #expect(catalogue.initial.playlists.count == 2 && catalogue.initial.downloads == Self.asset.downloads)
        #expect(folder.files().filter { $0.hasPrefix("records/a-id") } == ["records/a-id.4.json"])
    }

    @Test func whatCameFromTheNetworkIsKnownBesideAllThatTheLaterOneKnew() async throws {
        try await write(Self.latter)
        var own = Self.asset.assets[0]
        own.fromNetwork = true
        do {
            let catalogue = try open()
            #expect(catalogue.initial.sorted == Self.allOfLatter.sorted && catalogue.recovery == nil)
            #expect(catalogue.readSummaries().map(\.stamp) == ["stamp"])
            try await catalogue.save(.init(assets: [own]))
            await catalogue.flush()
        }
        var all = Self.allOfLatter
        all.assets[0] = own
        do {
            let catalogue = try open()
            #expect(catalogue.initial.sorted == all.sorted && catalogue.recovery == nil)
            // So that the other asset has its record as well.
            try await catalogue.save(.init(assets: [all.assets[1]]))
            await catalogue.flush()
        }
        // And from the records alone.
        for name in folder.files() where name.hasPrefix("catalogue") {
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
        let catalogue = try open()
        #expect(catalogue.initial.sorted == all.sorted && catalogue.recovery?.restored == 2)
    }

    private static var key: KeyLife {
        var key = KeyLife()
        (key.came, key.expires) = (10, 11)
        return key
    }

    @Test func withoutTheFileItsRecordIsTakenOverWhole() throws {
        try folder.write(Data(Self.record.utf8), to: "records/a-id.3.json")
        let catalogue = try open()
        #expect(catalogue.initial == Self.asset)
        #expect(catalogue.recovery?.restored == 1 && catalogue.recovery?.setAside == nil)
    }

    @Test(arguments: [false, true]) func whereNothingCanBeWrittenItIsReadAsItIs(isLatter: Bool) async throws {
        try await write(isLatter ? Self.latter : Self.former)
        let before = try Data(contentsOf: URL(filePath: folder.path("catalogue-1.sqlite")))
        let catalogue = try open(.readOnly)
        #expect(catalogue.initial.sorted == (isLatter ? Self.allOfLatter : Self.all).sorted)
        #expect(catalogue.recovery == nil)
        #expect(try Data(contentsOf: URL(filePath: folder.path("catalogue-1.sqlite"))) == before)
    }
}
