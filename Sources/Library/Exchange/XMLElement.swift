import Foundation
import FoundationXML

/// One element of an XML text, as far as Apple's files need it: names, attributes, text and children.
///
/// A text with a document type, which may declare entities, or nested deeper than anything sensible, is refused.
struct XMLElement {
    /// The name, without a prefix.
    let name: String
    /// By name, prefixes and all.
    let attributes: [String: String]
    /// In the order of the text.
    fileprivate(set) var children: [XMLElement] = []
    /// The characters in it, those of children aside, without blanks around them.
    fileprivate(set) var text = ""

    /// Reads a whole text; nil for what is no XML of this kind.
    init?(_ bytes: [UInt8]) {
        let data = Data(bytes)
        guard data.range(of: Data("<!DOCTYPE".utf8)) == nil else { return nil }
        let parser = XMLParser(data: data)
        let gatherer = XMLGatherer()
        parser.delegate = gatherer
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        // It calls texts good that end too soon, and says why they are not.
        guard parser.parse(), parser.parserError == nil, !gatherer.isRefused, let root = gatherer.root else {
            return nil
        }
        self = root
    }

    fileprivate init(name: String, attributes: [String: String]) { (self.name, self.attributes) = (name, attributes) }

    /// The first child of that name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The children of that name.
    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

/// Gathers the elements of a text while it is parsed.
private final class XMLGatherer: NSObject, XMLParserDelegate {
    /// The outermost element, once it is closed.
    private(set) var root: XMLElement?
    private(set) var isRefused = false
    /// Those that are open, the innermost last.
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

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard var element = open.popLast() else { return }
        element.text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if !open.isEmpty { open[open.count - 1].text += text }
    }
}
