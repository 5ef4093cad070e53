import AccessLog
import Foundation
import HTTPMessage
import Orders
import Playback
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Compares `conf/openapi.json` with the code: routes, shapes and constants.
@Suite struct DocumentTests {
    private let document: [String: Any]
    private let schemas: [String: [String: Any]]

    init() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Repository.path("conf/openapi.json")))
        document = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let components = try #require(document["components"] as? [String: Any])
        schemas = try #require(components["schemas"] as? [String: [String: Any]])
    }

    // MARK: Routes

    /// The documented operations, such as `GET /api/v1/assets`, each with the keys of its query.
    private func operations() throws -> [String: Set<String>] {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        var operations: [String: Set<String>] = [:]
        for (path, item) in paths {
            for (method, about) in item where method != "parameters" {
                let parameters = (about as? [String: Any])?["parameters"] as? [[String: Any]] ?? []
                let keys = parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }
                operations["\(method.uppercased()) \(path)"] = Set(keys)
            }
        }
        return operations
    }

    // GET implies HEAD, as the document's text says.
    @Test func theTableOfEndpointsMatchesTheDocument() async throws {
        var table: [String: Set<String>] = [:]
        for line in try await AllEndpoints.lines() {
            let name = "\(line.method.rawValue) \(API.root)\(line.path)"
            #expect(table[name] == nil, "\(name) is registered twice")
            table[name] = Set(line.query)
        }
        #expect(try operations() == table)
    }

    @Test func theStatusOfASuccessMatchesTheDocument() async throws {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        for line in try await AllEndpoints.lines() {
            let item = paths[API.root + line.path]?[line.method.rawValue.lowercased()] as? [String: Any]
            let responses = try #require(item?["responses"] as? [String: Any], "\(line.path)")
            #expect(responses.keys.filter { $0.hasPrefix("2") } == ["\(line.status)"], "\(line.method) \(line.path)")
        }
    }

    @Test func aPathWithItemsIsReadAsItWasWritten() {
        let line = Endpoints.detach.line
        let items = ["a b/c", "ü%"]
        let components = EndpointLine.components(of: API.root + line.path(with: items))
        #expect(components.flatMap { line.items(in: $0) } == items)
    }

    @Test func theDaemonServesTheRepositorysDocument() throws {
        #expect(try Data(API.document) == Data(contentsOf: URL(fileURLWithPath: Repository.path("conf/openapi.json"))))
    }

    // MARK: Shapes

    /// The Swift types of schemas.
    private static var shapes: [String: any Codable.Type] {
        [
            "AccessEvent": AccessEvent.self, "AccessLog": API.Log<AccessEvent>.self, "Asset": API.Asset.self,
            "Attachment": API.Attachment.self, "AttachRequest": API.AttachRequest.self,
            "Detachment": API.Detachment.self,
            "AssetChange": API.AssetChange.self, "AssetList": API.AssetList.self, "CacheRequest": API.CacheRequest.self,
            "Disk": API.Store.Disk.self,
            "Download": API.Download.self, "DownloadList": API.DownloadList.self,
            "DownloadRequest": API.DownloadRequest.self, "ErrorEvent": ErrorEvent.self,
            "ErrorLog": API.Log<ErrorEvent>.self, "EventPurge": API.Event.Purge.self,
            "EventReference": API.Event.Reference.self,
            "EventFurther": API.Event.Further.self, "EventSelection": API.Event.Selection.self,
            "DownloadSummary": API.Download.Summary.self, "SummaryOrigin": API.Download.Summary.Origin.self,
            "Missing": API.Download.Summary.Missing.self, "Selected": API.Download.Selected.self,
            "Share": API.Download.Selected.Share.self, "Shortfall": Shortfall.self,
            "EventRendition": API.Event.Rendition.self,
            "Explanation": API.Explanation.self, "Export": API.Export.self, "ExportRequest": API.ExportRequest.self,
            "DownloadReason": Reason.self, "Rules": DownloadRules.Change.self,
            "Failure": API.Download.Failure.self, "Header": API.Header.self, "Route": API.Route.self,
            "Hole": API.Verification.Hole.self,
            "ImportRequest": API.ImportRequest.self, "KPIReport": API.KPIReport.self, "KPIs": KPIs.self,
            "EventKeyChange": API.Event.KeyChange.self, "Key": API.Key.self, "KeyList": API.KeyList.self,
            "KeyLists": API.KeyLists.self, "KeyOrder": API.KeyOrder.self, "KeySummary": API.KeySummary.self,
            "KeyUse": API.Key.Use.self, "Move": API.Move.self, "MoveRequest": API.MoveRequest.self,
            "PageLink": API.PageLink.self, "PastedText": API.PastedText.self, "Phone": API.Phone.self,
            "PhoneList": API.PhoneList.self, "PhoneRequest": API.PhoneRequest.self, "PhoneLink": API.PhoneLink.self,
            "Volume": API.Volume.self,
            "Publication": API.Publication.self,
            "PublicationKeys": API.PublicationRequest.Keys.self, "PublicationRequest": API.PublicationRequest.self,
            "LAN": API.LAN.self, "Mismatch": API.Verification.Mismatch.self,
            "Limit": API.Limit.self, "Mode": API.Mode.self, "ObservedRate": ObservedRate.self,
            "Part": API.Download.Part.self,
            "PieceRun": PieceRun.self,
            "PlayCache": API.PlayCache.self, "PlayerReport": PlayerReport.self, "Playable": Playability.self,
            "Preferences": Selection.Preferences.self, "Presentation": API.Presentation.self,
            "Problem": API.Problem.self,
            "Purge": Purge.self, "Reason": API.Explanation.Reason.self, "Removal": API.Removal.self,
            "Rendition": API.Rendition.self, "PresentationRequest": API.PresentationRequest.self,
            "ResumeRequest": API.ResumeRequest.self,
            "SelectionRequest": Selection.self, "Session": SessionSummary.self,
            "SessionKPIs": API.KPIReport.Session.self, "SessionList": API.SessionList.self,
            "SessionLog": API.Log<SessionTimeline>.self, "SessionTimeline": SessionTimeline.self,
            "TimelineRendition": TimelineRendition.self, "TimelineSegment": TimelineSegment.self,
            "TimelineStall": TimelineStall.self,
            "SourceBytes": SourceBytes.self, "Storage": API.Storage.self, "Store": API.Store.self,
            "Stream": API.Stream.self, "StreamEntry": API.StreamReport.Entry.self,
            "StreamReport": API.StreamReport.self, "StreamRequest": API.StreamRequest.self, "Tracks": API.Tracks.self,
            "Incompatible": API.Explanation.Incompatible.self, "Variant": API.Variant.self,
            "Verification": API.Verification.self, "VerificationRequest": API.VerificationRequest.self,
            "VerifiedPart": API.Verification.Part.self, "RecordingTimes": API.RecordingTimes.self,
            "RecordingRequest": API.RecordingRequest.self, "ScheduledRecording": API.ScheduledRecording.self,
            "RecordingList": API.RecordingList.self,
            "ChannelList": API.ChannelList.self, "ChannelLists": API.ChannelLists.self,
            "ChannelListRequest": API.ChannelListRequest.self, "Channel": API.Channel.self,
            "Channels": API.Channels.self,
        ]
    }

    /// The types of schemas that do not match the stored properties of one struct: arrays, and several structs in one
    /// object.
    private static var others: [String: any Codable.Type] {
        [
            "MediaRange": MediaRange.self, "Policy": StoragePolicy.self, "Position": API.Position.self,
            "TimeRange": API.Download.TimeRange.self,
        ]
    }

    @Test func everySchemaHasAShape() {
        #expect(Set(schemas.keys) == Set(Self.shapes.keys).union(Self.others.keys))
    }

    @Test(arguments: shapes.merging(others) { $1 }.keys.sorted())
    func aShapeHasExactlyTheKeysOfItsSchema(name: String) throws {
        let type = try #require(Self.shapes[name] ?? Self.others[name])
        let schema = try #require(schemas[name])
        let full = try #require(example(schema))
        let value = try decode(type, full)
        // The shape has every key of the schema, with the schema's type.
        #expect(try text(written(value)) == text(full), "\(name)")
        // The schema has every key of the shape.
        if Self.shapes[name] != nil {
            let keys = Set((full as? [String: Any] ?? [:]).keys)
            #expect(properties(of: value) == keys, "\(name)")
        }
    }

    /// The names of stored properties. The keys of a selection and of an order are beside those of the request that has it.
    private func properties(of value: Any) -> Set<String> {
        var names: Set<String> = []
        for child in Mirror(reflecting: value).children {
            if child.value is Selection || child.value is DownloadOrder {
                names.formUnion(properties(of: child.value))
            } else if let label = child.label {
                names.insert(label)
            }
        }
        return names
    }

    @Test(arguments: shapes.keys.sorted())
    func requiredKeysAreThoseThatDecodingNeeds(name: String) throws {
        let type = try #require(Self.shapes[name])
        let schema = try #require(schemas[name])
        let full = try #require(example(schema) as? [String: Any])
        let required = Set(schema["required"] as? [String] ?? [])
        let value = try decode(type, full.filter { required.contains($0.key) })
        // A value decoded from required keys alone is encoded with those alone; a request also with its defaults.
        let object = try #require(try written(value) as? [String: Any])
        let isRequest = schema["additionalProperties"] as? Bool == false
        if !isRequest {
            #expect(Set(object.keys) == required, "\(name)")
        }
        for key in required {
            #expect(throws: (any Error).self, "\(name).\(key)") { try decode(type, full.filter { $0.key != key }) }
        }
    }

    // MARK: Golden files

    /// Each shape as it is written, with all its keys. A new shape has no file until `GoldenFiles` has written one.
    @Test func everyShapeIsAsItsGoldenFile() throws {
        var texts: [String: String] = [:]
        for (name, type) in Self.shapes.merging(Self.others, uniquingKeysWith: { $1 }) {
            let full = try #require(schemas[name].flatMap(example), "\(name)")
            let text = try API.encode(try decode(type, full))
            texts[name + ".json"] = try GoldenFiles.lines(ofJSON: Data(text))
        }
        #expect(try GoldenFiles("shapes").differences(from: texts) == [])
    }

    /// The types in the table of endpoints, which have golden files as shapes.
    @Test func everyTypeOfTheEndpointsIsAShape() throws {
        let known = Set(Self.shapes.values.map { "\($0)" } + Self.others.values.map { "\($0)" })
        let source = try String(contentsOfFile: Repository.path("Sources/WeirAPI/Endpoints.swift"), encoding: .utf8)
        var types: Set<String> = []
        for match in source.matches(of: /\bEndpoint<(.+?), (.+?)>[\s({]/) {
            types.formUnion(["\(match.1)", "\(match.2)"])
        }
        for match in source.matches(of: /= JobEndpoints<(.+?)>\(/) {
            types.formUnion(["\(match.1)", "\(match.1)Request"])
        }
        types.subtract(["API.Nothing", "API.Bytes", "Job", "Job.Request"])
        #expect(types.count > 40)
        let names = types.map { $0.hasPrefix("API.") ? String($0.dropFirst(4)) : $0 }
        #expect(Set(names).subtracting(known) == [])
    }

    @Test func aRequestsSchemaAllowsNoOtherKey() throws {
        let requests = try #require(document["paths"] as? [String: [String: Any]]).values.flatMap(\.values)
            .compactMap { ($0 as? [String: Any])?["requestBody"] as? [String: Any] }
            .compactMap { ($0["content"] as? [String: Any])?["application/json"] as? [String: [String: String]] }
            .compactMap { $0["schema"]?["$ref"]?.split(separator: "/").last.map(String.init) }
        #expect(requests.count == 29)
        for name in requests {
            #expect(schemas[name]?["additionalProperties"] as? Bool == false, "\(name)")
        }
    }

    @Test func eachKeyOfASelectionIsInTheDocument() throws {
        for key in Selection.Key.allCases {
            let properties = ["SelectionRequest", "Preferences"].compactMap {
                schemas[$0]?["properties"] as? [String: Any]
            }
            #expect(properties.contains { $0["\(key)"] != nil }, "\(key)")
        }
    }

    @Test func errorCodesMatchTheDocument() throws {
        for (schema, key) in [("Problem", "code"), ("Failure", "code")] {
            let properties = try #require(schemas[schema]?["properties"] as? [String: [String: Any]])
            let codes = try #require(properties[key]?["enum"] as? [String])
            #expect(codes == APIError.Code.allCases.map(\.rawValue))
        }
    }

    @Test func everyEventOfTheDocumentRoundTrips() throws {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let route = try #require(paths["/api/v1/events"]?["get"] as? [String: Any])
        let events = try #require(route["x-events"] as? [String: [String: Any]])
        var golden: [String: String] = [:]
        for (name, about) in events {
            let full = try #require(example(["$ref": ref(about["data"])]))
            let data = Data(try text(full).utf8)
            let read = try API.Event(name: name, data: Array(data))
            let event = try #require(read, "\(name)")
            #expect(event.name == name)
            golden[event.name + ".json"] = try GoldenFiles.lines(ofJSON: Data(event.data))
            #expect(
                try text(JSONSerialization.jsonObject(with: Data(event.data))) == String(decoding: data, as: UTF8.self))
        }
        #expect(events.count == 17)
        #expect(try GoldenFiles("events").differences(from: golden) == [])
    }

    // MARK: Examples

    private func ref(_ schema: Any?) -> String { (schema as? [String: Any])?["$ref"] as? String ?? "" }

    /// A value of a schema with all its keys; nil if the schema says too little.
    private func example(_ schema: [String: Any]) -> Any? {
        if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
            return schemas[String(name)].flatMap(example)
        }
        if let one = (schema["allOf"] as? [[String: Any]])?.first {
            return example(one)
        }
        if let words = schema["enum"] as? [String] ?? schema["examples"] as? [String] {
            return words.last
        }
        let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] } ?? []
        switch types.first {
        case "object": return (schema["properties"] as? [String: [String: Any]])?.compactMapValues(example)
        case "array":
            if let items = schema["prefixItems"] as? [[String: Any]] {
                return items.enumerated().map { Double($0.offset) + 0.5 }
            }
            let item = (schema["items"] as? [String: Any]).flatMap(example)
            let count = schema["minItems"] as? Int ?? 1
            return item.map { [Any](repeating: $0, count: count) }
        case "boolean": return true
        case "integer": return 7
        case "number": return 0.5
        case "string": return "text"
        default: return nil
        }
    }

    private func decode(_ type: any Codable.Type, _ value: Any) throws -> any Codable {
        try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: value))
    }

    private func written(_ value: any Codable) throws -> Any {
        try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
    }

    /// A JSON value as text, so that two values can be compared.
    private func text(_ value: Any) throws -> String {
        String(
            decoding: try JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes]),
            as: UTF8.self)
    }
}
