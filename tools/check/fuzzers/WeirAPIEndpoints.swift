import Glibc
import HTTPMessage

/// A path of the API has at most one endpoint of each method, and the items in it are those of the path that is made of them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for path in [text, "\(API.root)/\(text)", "\(API.root)/assets/\(text)", "\(API.root)/assets/a/\(text)"] {
        guard let components = EndpointLine.components(of: path) else { continue }
        precondition(path.hasPrefix(API.root) && !components.isEmpty && !components.contains(""))
        let encoded = API.root + "/" + components.map(PercentEncoding.encode).joined(separator: "/")
        precondition(EndpointLine.components(of: encoded) == components, "components that read as others")
        var found: Set<String> = []
        for line in lines {
            guard let items = line.items(in: components) else { continue }
            precondition(found.insert(line.method.rawValue).inserted, "\(path) is two endpoints")
            let made = EndpointLine.components(of: API.root + line.path(with: items))
            precondition(made == components && made.flatMap(line.items) == items, "items that read as others")
        }
    }
    return 0
}

/// Those with items, and those beside them.
private let lines = [
    Endpoints.assets.line, Endpoints.importAsset.line, Endpoints.asset.line, Endpoints.changeAsset.line,
    Endpoints.removeAsset.line, Endpoints.artwork.line, Endpoints.setArtwork.line, Endpoints.policy.line,
    Endpoints.setPolicy.line, Endpoints.export.line, Endpoints.update.line, Endpoints.attach.line,
    Endpoints.detach.line,
    Endpoints.allKeys.line,
]
