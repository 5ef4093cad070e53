import Downloader
public import EventLoop
import HTTPMessage
import Library
import Store

/// What the control API tells of the moving of assets, and begins and ends.
@LoopActor public protocol MoveService: AnyObject, Sendable {
    /// Moves an asset to another disk, or attaches to who does; `.noSuchAsset`, `.busy`, `.cannotWrite`.
    func move(assetNamed name: String, _ request: API.MoveRequest) async throws(ControlError) -> API.Move

    /// How the last moving of an asset stands; `.noSuchAsset`. Cheap while it goes on.
    func move(ofAsset name: String) async throws(ControlError) -> API.Move

    /// Gives it up, if it goes on; `.noSuchAsset`.
    func cancelMove(ofAsset name: String) async throws(ControlError) -> API.Move
}

extension LibraryService: MoveService {
    /// See `MoveService`.
    public func move(assetNamed name: String, _ request: API.MoveRequest) async throws(ControlError) -> API.Move {
        let asset = try find(name)
        do throws(LibraryError) {
            if let job = downloader.verifier.job(of: asset), !job.state.isFinal {
                guard downloader.verifier.giveWay(job) else {
                    throw LibraryError(.busy, "\(asset.name) stays where it is for now: it is being verified")
                }
            }
            return API.Move(try library.move(asset, to: request.path))
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    /// See `MoveService`.
    public func move(ofAsset name: String) async throws(ControlError) -> API.Move {
        let asset = try find(name)
        return library.move(of: asset).map(API.Move.init) ?? API.Move(asset: asset.name, state: .none)
    }

    /// See `MoveService`.
    public func cancelMove(ofAsset name: String) async throws(ControlError) -> API.Move {
        try library.move(of: find(name)).map(library.cancel)
        return try await move(ofAsset: name)
    }
}

extension API.Move {
    @LoopActor init(_ move: Move) {
        self.init(asset: move.asset.name, state: .init(move.state))
        (path, bytes, totalBytes) = (move.path, Int(move.pace.bytes), Int(move.totalBytes))
        leftOut = move.leftOut > 0 ? move.leftOut : nil
        error = move.failure.map {
            let error = ControlError($0, asset: move.asset.name)
            return .init(code: error.code, message: error.message)
        }
    }
}

extension API.Move.State {
    fileprivate init(_ state: Move.State) {
        self =
            switch state {
            case .running: .running
            case .done: .done
            case .cancelled: .cancelled
            case .failed: .failed
            }
    }
}

extension ControlRoutes {
    /// Answers a request about the moving of an asset.
    func move(_ request: ControlRequest, of name: String) async throws(ControlError) -> ControlResponse {
        guard let moves else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
        switch request.method {
        case .post:
            let move = try await moves.move(assetNamed: name, try Self.body(request))
            return ControlResponse(status: .accepted, body: try API.encode(move))
        case .delete: return try ok(try await moves.cancelMove(ofAsset: name))
        default: return try ok(try await moves.move(ofAsset: name))
        }
    }
}

extension ControlClient {
    /// Begins to move an asset, or attaches to who does.
    public func move(assetNamed name: String, _ request: API.MoveRequest) async throws(ControlError) -> API.Move {
        try await call("POST", Self.moveRoute(name), body: try API.encode(request))
    }

    /// How the last moving of an asset stands.
    public func move(ofAsset name: String) async throws(ControlError) -> API.Move {
        try await call("GET", Self.moveRoute(name))
    }

    /// Gives a move up.
    public func cancelMove(ofAsset name: String) async throws(ControlError) -> API.Move {
        try await call("DELETE", Self.moveRoute(name))
    }

    private static func moveRoute(_ name: String) -> String { "/assets/\(PercentEncoding.encode(name))/move" }
}
