import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct OpenCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a link or a playlist file in the page, and ask there.",
        discussion: """
            For the desktop: conf/desktop/weir.desktop opens weir:// links and .m3u8 files with it. A link has one http or https \
            URL and no options; of a file, only its absolute http and https URLs count. Nothing is fetched before a click on the \
            page, and private addresses are refused, since a web page may have made the link.
            """)

    @Argument(help: ArgumentHelp("weir://URL, an http or https URL, or a file (.m3u8, .m3u).", valueName: "link"))
    var link: String
    @Flag(help: "Write the file that leads a browser to the page, and print its path, rather than open it.")
    var printOnly = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let streams: LinkedStreams
        do throws(LinkedStreams.Refusal) {
            streams = try LinkedStreams(link) { path in
                let file = FileHandle(forReadingAtPath: path)
                return (try? file?.read(upToCount: ChannelFile.limit)).map { [UInt8]($0) }
            }
        } catch {
            throw CommandFailure(
                "\(CommandFailure.quoted(PlayerURL.withoutPassword(link))) is not opened: \(error.sentence)",
                next: "weir play URL, or weir get URL, which take any URL of yours", exitCode: 65, code: "no-link")
        }
        let daemon = try common.daemon()
        let path = try await daemon.client.call(Endpoints.page).path
        var opener: Program?
        if !printOnly {
            opener = try PageCommand.opener(
                in: ProcessInfo.processInfo.environment,
                instead: "weir add URL, or open in a browser what \"weir page\" prints")
        }
        let file = try daemon.client.state.writePageFile(to: daemon.urls.base, path, proposing: streams.urls)
        guard let opener else { return Output.record(file) }
        throw CommandFailure(opener.start([file]), exitCode: 1, code: "no-browser")
    }
}
