import TestSupport
import Testing

@Suite("A stream that DRM protects")
struct ProtectionTests {
    /// A PSSH box and a PlayReady object are a system's own data, and no key.
    @Test(
        "is refused by get, which says why and exits with 65",
        arguments: [
            "URI=\"skd://key\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
            "URI=\"data:text/plain;base64,AAAAPnBzc2gAAAAA\",KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"",
            "URI=\"data:text/plain;charset=UTF-16;base64,UAIA\",KEYFORMAT=\"com.microsoft.playready\"",
        ])
    func isRefused(_ key: String) async throws {
        try await Scene.with { scene in
            let text = """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-KEY:METHOD=SAMPLE-AES-CTR,\(key)
                #EXTINF:2,
                0.ts
                #EXT-X-ENDLIST

                """
            try await scene.origin.add(OriginRule("/protected.m3u8") { ($0.status, $0.body) = (200, text) })
            let get = try await scene.weir.run(["get", scene.origin.url("/protected.m3u8")])
            #expect(get.exit == .code(65) && get.errors.contains("is protected by DRM"), "\(get.exit) \(get.errors)")
            #expect(try await scene.origin.requests().allSatisfy { !$0.path.hasSuffix(".ts") })
        }
    }
}
