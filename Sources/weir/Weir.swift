import Application
import ArgumentParser

@main struct Weir: ParsableCommand {}
