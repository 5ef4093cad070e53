import Testing

@testable import Sharing

@Suite("A publication's words")
struct PublicationTests {
    @Test("A place is a bucket, rsync's or a folder, as it is written")
    func targets() throws {
        let cases: [(String, PublicationTarget)] = [
            ("s3://films", .bucket("films", prefix: "")), ("s3://my.films-2/", .bucket("my.films-2", prefix: "")),
            ("s3://films/a/b~c_d.e/", .bucket("films", prefix: "a/b~c_d.e")), ("/srv/films", .folder("/srv/films")),
            ("/srv/a:b", .folder("/srv/a:b")), ("host:films/a", .rsync("host:films/a")),
            ("me@host:/srv/films", .rsync("me@host:/srv/films")), ("rsync://h/m/film", .rsync("rsync://h/m/film")),
            ("rsync://me@h:873/m/film", .rsync("rsync://me@h:873/m/film")),
        ]
        for (text, target) in cases {
            #expect(try PublicationTarget(text) == target, "\(text)")
        }
    }

    @Test(
        "Refuses an invalid target",
        arguments: [
            "", "films", "s3://", "s3://ab", "s3://Films/a", "s3://films/a b", "s3://films/../x", "s3://films/%41",
            "s3://films/a?b", "host:", "-oX:/film", "a@-oX:/film", "@host:/film", "a:b@host:/film", "rsync://h",
            "rsync:///m",
            "rsync://-h/m", "rsync://a:b@h/m/film", "ftp://h/film", "https://h/film", "./a:b", "/srv/a\nb", "a\0:b",
        ])
    func badTargets(text: String) {
        #expect { try PublicationTarget(text) } throws: { ($0 as? ExchangeError)?.code == .badTarget }
    }

    @Test("The record comes back as it was written, and leads nowhere else whatever it says")
    func record() throws {
        let record = PublicationRecord(asset: "film-2222", paths: ["master.m3u8", "video-720p/0.m4s", "asset.json"])
        #expect(PublicationRecord(record.text) == record)
        let lines = ["../x", "/etc/passwd", "a/b/c", "a//b", "", ".", "..", "a/..", "video/1.ts", ".hidden"]
        let text = Array(("# weir publication 1 film-2222\n" + lines.joined(separator: "\n")).utf8)
        #expect(try #require(PublicationRecord(text)).paths == ["video/1.ts"])
        for other in ["", "video/1.ts\n", "# weir publication 2 film-2222\n"] {
            #expect(PublicationRecord(Array(other.utf8)) == nil)
        }
    }

    @Test("What a store says of a refusal is told, but for what is secret")
    func refusal() {
        let text = "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>of %</Message></Error>"
        func error(_ who: String) -> ExchangeError {
            let body = Array(text.replacing("%", with: who).utf8)
            return BucketRefusal(status: 403, body).error("it cannot be put", hiding: ["AKIASECRET"])
        }
        #expect(error("you").code == .refused)
        #expect(error("you").message == "it cannot be put (AccessDenied, 403: of you)")
        #expect(error("AKIASECRET").message == "it cannot be put (status 403)")
        #expect(BucketRefusal(status: 404, Array("<html>".utf8)).error("it", hiding: []).code == .badAnswer)
    }
}
