import Assets
package import EventLoop
import Orders
package import Recordings
import WeirAPI

/// Answers for planned recordings.
@LoopActor package final class RecordingService {
    private let service: LibraryService
    private let schedules: RecordingSchedules
    private var library: Library { service.library }

    package init(_ service: LibraryService, _ schedules: RecordingSchedules) {
        self.service = service
        self.schedules = schedules
    }

    package func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.recordings) { _ throws(APIError) in
            API.RecordingList(recordings: self.schedules.all.map(self.shape))
        }
        handlers.on(Endpoints.addRecording) { _, request throws(APIError) in try await self.add(request) }
        handlers.on(Endpoints.changeRecording) { call, times throws(APIError) in
            try await self.change(call.item, to: times)
        }
        handlers.on(Endpoints.cancelRecording) { call throws(APIError) in try await self.cancel(call.item) }
    }

    func add(_ request: API.RecordingRequest) async throws(APIError) -> API.ScheduledRecording {
        let schedule = try schedule(request.times)
        let keep = try keep(request.times)
        var order = request.download.with(defaults: service.selectionDefaults).order
        order.record = true
        order.recordSeconds = nil
        order.paused = nil
        if let contradiction = order.contradiction {
            throw APIError(.badRequest, contradiction)
        }
        if case .ago = order.recordFrom {
            throw APIError(
                .badRequest, "a planned recording begins earlier by early, and has no time ago in recordFrom")
        }
        let channel = try await service.plannedChannel(request.download)
        guard !channel.isChannelRecording else {
            throw APIError(.badRequest, "\(channel.name) is a recording: name its channel, or its URL")
        }
        // The plan names it, after a restart too.
        if !channel.isPersistent {
            await library.records.saveNew(channel)
        }
        let plan = PlannedRecording(
            name: schedules.freeName(for: channel, schedule), channel: channel.id, title: request.download.title,
            schedule: schedule, order: order, keep: keep)
        try await put(plan)
        return shape(plan)
    }

    private func change(_ name: String, to times: API.RecordingTimes) async throws(APIError) -> API.ScheduledRecording {
        let former = try find(name)
        var plan = PlannedRecording(
            name: former.name, channel: former.channel, title: former.title, schedule: try schedule(times),
            order: former.order, keep: try keep(times))
        plan.adoptRecordings(of: former)
        try await put(plan)
        return shape(plan)
    }

    private func cancel(_ name: String) async throws(APIError) -> API.ScheduledRecording {
        let plan = try find(name)
        if let failure = await schedules.cancel(name) {
            throw APIError(.cannotWrite, failure)
        }
        return shape(plan)
    }

    private func put(_ plan: PlannedRecording) async throws(APIError) {
        if let failure = await schedules.put(plan) {
            throw APIError(.cannotWrite, failure)
        }
    }

    private func find(_ name: String) throws(APIError) -> PlannedRecording {
        guard let plan = schedules[name] else {
            throw APIError(.noSuchAsset, "there is no planned recording \(name)", next: "weir record, which lists them")
        }
        return plan
    }

    // MARK: Shapes

    private func schedule(_ times: API.RecordingTimes) throws(APIError) -> Schedule {
        do throws(ScheduleFault) {
            return try Schedule(
                at: times.at, days: times.every, seconds: times.seconds, until: times.until, early: times.early,
                late: times.late, now: library.date(), in: schedules.zone())
        } catch {
            throw APIError(.badRequest, error.sentence)
        }
    }

    private func keep(_ times: API.RecordingTimes) throws(APIError) -> RecordingRetention? {
        guard let text = times.keep else { return nil }
        guard let keep = RecordingRetention(text) else {
            throw APIError(.badRequest, "\"\(text)\" is not a number of recordings such as 5, or of days such as 30d")
        }
        return keep
    }

    private func shape(_ plan: PlannedRecording) -> API.ScheduledRecording {
        let schedule = plan.schedule
        let isRepeated = schedule.days != nil
        var times = API.RecordingTimes(at: isRepeated ? "\(schedule.time)" : "\(schedule.first) \(schedule.time)")
        times.every = schedule.days.map { days in Weekday.allCases.filter(days.contains).map(\.rawValue) }
        switch schedule.end {
        case .after(let seconds): times.seconds = seconds
        case .at(let time): times.until = "\(time)"
        case nil: break
        }
        times.early = schedule.early > 0 ? schedule.early : nil
        times.late = schedule.late > 0 ? schedule.late : nil
        times.keep = plan.keep.map { "\($0)" }
        let channel = library.asset(id: plan.channel)?.name ?? plan.channel
        var shape = API.ScheduledRecording(name: plan.name, channel: channel, times: times)
        shape.title = plan.title
        let next = schedules.next(of: plan)
        shape.begin = next.map { Int($0.begin) }
        shape.end = next?.end.map { Int($0) }
        shape.problem = plan.problem
        let recordings = plan.recordings.compactMap { library.asset(id: $0)?.name }
        shape.recordings = recordings.isEmpty ? nil : recordings
        return shape
    }
}
