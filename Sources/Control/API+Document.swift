import API
import CDocument

extension API {
    /// This API as an OpenAPI 3.1 document: `conf/openapi.json`, as `GET /api/v1/openapi.json` gives it.
    static let document: [UInt8] = {
        var count = 0
        let start = weir_openapi(&count)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }()
}
