/// To be.
public enum Placeholder {}
