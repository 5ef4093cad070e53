import Foundation
import FoundationXML

/// One element of an XML document, as `.movpkg` and S3 need it.
///
/// Documents with a document type, which may declare entities, with more than 32 nested elements, or in another encoding than UTF-8
/// are refused.
struct XMLElement {
    /// The name, without a prefix.
    let name: String
    /// The values by name, with prefixes.
    let attributes: [String: String]
    fileprivate(set) var children: [XMLElement] = []
    /// The element's own characters, trimmed, without those of children.
    fileprivate(set) var text = ""

    init?(_ bytes: [UInt8]) {
        // FoundationXML traps on a name that is not UTF-8, and libxml2 recognises other encodings by their NULs.
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else { return nil }
        let data = Data(bytes)
        guard data.range(of: Data("<!DOCTYPE".utf8)) == nil else { return nil }
        let parser = XMLParser(data: data)
        let gatherer = XMLGatherer()
        parser.delegate = gatherer
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        // parse() returns true for a truncated document, but sets parserError.
        guard parser.parse(), parser.parserError == nil, !gatherer.isRefused, let root = gatherer.root else {
            return nil
        }
        self = root
    }

    fileprivate init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

private final class XMLGatherer: NSObject, XMLParserDelegate {
    private(set) var root: XMLElement?
    private(set) var isRefused = false
    private var open: [XMLElement] = []
    private static let deepest = 32

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.deepest else {
            isRefused = true
            return parser.abortParsing()
        }
        open.append(XMLElement(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard var element = open.popLast() else { return }
        element.text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if !open.isEmpty {
            open[open.count - 1].text += text
        }
    }
}
