/// Who is called when something has changed. Whoever is called may add others and take any out.
final class Observers {
    /// One of them; without its closure once it is taken out.
    private final class Observer {
        let id: Int
        var wake: (() -> Void)?

        init(id: Int, wake: @escaping () -> Void) {
            self.id = id
            self.wake = wake
        }
    }

    private var observers: [Observer] = []
    private var last = 0

    /// Adds one, from the next round on.
    ///
    /// - Returns: what takes it out again.
    func add(_ wake: @escaping () -> Void) -> Int {
        last += 1
        observers.append(Observer(id: last, wake: wake))
        return last
    }

    /// Takes one out: it is not called again, not even in the round that is under way.
    func remove(_ id: Int) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        observers[index].wake = nil
        observers.remove(at: index)
    }

    /// Calls each of them, in the order in which they came.
    func wake() {
        for observer in observers { observer.wake?() }
    }
}
