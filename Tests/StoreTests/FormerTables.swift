/// Tables of catalogues that earlier versions wrote, as SQLite has them.
enum FormerTables {
    /// Those that are as in version 0.1.
    static let lasting = """
        CREATE TABLE playlist (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL,
            url TEXT NOT NULL, body BLOB NOT NULL, fetched INTEGER NOT NULL, imports TEXT,
            PRIMARY KEY (asset, rendition));
        CREATE TABLE key (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, number INTEGER NOT NULL,
            url TEXT NOT NULL, PRIMARY KEY (asset, number));
        CREATE TABLE download (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, renditions TEXT NOT NULL,
            state TEXT NOT NULL, errorCode TEXT, errorMessage TEXT, created INTEGER NOT NULL, task TEXT, need TEXT);
        CREATE TABLE recording (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL,
            PRIMARY KEY (asset, rendition));
        """
}
