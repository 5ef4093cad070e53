/// A value that few of many objects have: it costs the others 8 bytes.
@propertyWrapper package struct Rare<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box?
    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }
}
