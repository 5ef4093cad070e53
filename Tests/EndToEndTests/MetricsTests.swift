import Foundation
import TestSupport
import Testing

@Suite("The samples of /metrics")
struct MetricsTests {
    private static let type = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Samples as `name{label=value}`, from the strict parser of Prometheus's own client.
    private func samples(_ weir: WeirProcess) async throws -> [String: Double] {
        let answer = try await HTTPProbe.fetch(weir.url("/metrics"))
        #expect(answer.status == 200 && answer["content-type"] == Self.type && answer["cache-control"] == "no-store")
        #expect(answer.text.hasSuffix("\n# EOF\n"))
        let folder = try TemporaryFolder()
        let file = try folder.write(answer.body, to: "metrics")
        let script = """
            import json, sys
            from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
            samples = {}
            for family in parse(open(sys.argv[1], encoding="utf-8").read()):
                assert family.documentation and family.type in ("gauge", "counter", "info", "histogram"), family
                for sample in family.samples:
                    name = sample.name + "".join("{%s=%s}" % label for label in sorted(sample.labels.items()))
                    assert name not in samples, name
                    samples[name] = sample.value
            print(json.dumps(samples))
            """
        // The packages belong to the system's Python.
        let parsed = try await ProcessRunner.run("/usr/bin/python3", ["-c", script, file])
        #expect(parsed.exit == .code(0), "\(parsed.errors)\(answer.text)")
        return try JSONDecoder().decode([String: Double].self, from: Data(parsed.output.utf8))
    }

    /// The sizes of all pieces in the store, together.
    private func storedBytes(_ scene: Scene) throws -> Double {
        let sizes = try scene.pieces().map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
        return Double(sizes.reduce(0, +))
    }

    @Test("begin at zero, and measure the turns of the loop")
    func beginsAtZero() async throws {
        let weir = try await WeirProcess()
        let fresh = try await samples(weir)
        #expect(fresh["weir_build_info{version=0.2.0}"] == 1)
        #expect(fresh["weir_assets"] == 0 && fresh["weir_store_bytes"] == 0)
        #expect(fresh["weir_downloads{state=complete}"] == 0)

        #expect((fresh["weir_loop_lag_seconds"] ?? -1) >= 0)
        let turns = fresh["weir_loop_turn_seconds_count"] ?? 0
        #expect(turns > 0 && fresh["weir_loop_turn_seconds_bucket{le=+Inf}"] == turns)
        #expect((fresh["weir_loop_longest_turn_seconds"] ?? 0) > 0)
        #expect(fresh["weir_loop_turn_cpu_seconds_count"] == turns)
        #expect((fresh["weir_loop_turn_cpu_seconds_sum"] ?? 0) > 0)
        try await weir.kill()
    }

    @Test("count requests, sent, fetched and stored bytes, and name no asset")
    func countsRequestsAndBytes() async throws {
        try await Scene.with { scene in
            let before = try await samples(scene.weir)
            #expect(try await scene.get("ts", ["-q", "270p"]).exit == .code(0))
            let fetched = try await samples(scene.weir)
            let stored = try storedBytes(scene)
            #expect(fetched["weir_store_bytes"] == stored)
            #expect(fetched["weir_assets"] == 1 && fetched["weir_downloads{state=complete}"] == 1)
            #expect(fetched["weir_served_bytes_total{source=store}"] == 0)
            let requests = try await scene.origin.requests()
            #expect(fetched["weir_origin_requests_total"] == Double(requests.count))
            #expect(fetched["weir_origin_transfers_total{outcome=success}"] == Double(requests.count))
            #expect((fetched["weir_origin_bytes_total{reader=download}"] ?? 0) >= stored)

            // The player reads each stored piece once.
            let name = await scene.weir.url("/ts.m3u8")
            let bodies = try await PlaylistWalk.load(name).values.flatMap(\.self)
            #expect(!bodies.isEmpty)
            let played = try await samples(scene.weir)
            #expect(played["weir_served_bytes_total{source=store}"] == stored)
            #expect(played["weir_served_bytes_total{source=origin}"] == 0)
            #expect(played["weir_sessions"] == 1)
            #expect((played["weir_replies_total{class=2xx}"] ?? 0) > (fetched["weir_replies_total{class=2xx}"] ?? 0))

            // Other segments come from the origin.
            let other = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("cmaf"))
            let segment = try await HTTPProbe.fetch(other)
            let streamed = try await samples(scene.weir)
            #expect(streamed["weir_served_bytes_total{source=origin}"] == Double(segment.body.count))
            #expect(Set(streamed.keys) == Set(before.keys))
            #expect(!streamed.keys.contains { $0.contains("cmaf") || $0.contains("127.0.0.1") })
        }
    }

    @Test("are refused to web pages, and read-only")
    func refusesWebPages() async throws {
        let weir = try await WeirProcess()
        let url = await weir.url("/metrics")
        #expect(try await HTTPProbe.fetch(url, fields: ["Host": "evil.example:\(await weir.port)"]).status == 421)
        #expect(try await HTTPProbe.fetch(url, fields: ["Origin": "http://evil.example"]).status == 403)
        #expect(try await HTTPProbe.fetch(url, fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
        let posted = try await HTTPProbe.fetch(url, method: "POST", body: Data())
        #expect(posted.status == 405 && posted["allow"] == "GET, HEAD")
        let head = try await HTTPProbe.fetch(url, method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head["content-type"] == Self.type)
        let after = try await samples(weir)
        #expect(after["weir_replies_total{class=4xx}"] == 4)
        try await weir.kill()
    }
}
