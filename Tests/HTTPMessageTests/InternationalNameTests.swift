import HTTPMessage
import Testing

struct InternationalNameTests {
    /// Names of RFC 3492 §7.1, UTS #46 and the field; the results are those of libidn2.
    @Test(arguments: [
        ("example.com", "example.com"), ("Example.COM.", "example.com."), ("my_host-1", "my_host-1"),
        ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
        ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("straße.example", "xn--strae-oqa.example"),
        ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"), ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("例え．テスト", "xn--r8jz45g.xn--zckzah"),
        ("ｅｘａｍｐｌｅ.com", "example.com"), ("उदाहरण.परीक्षा", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"),
        ("실례.테스트", "xn--9n2bp8q.xn--9t4b11yi5a"), ("i❤️.ws", "xn--i-7iq.ws"), ("l·l.example", "xn--ll-0ea.example"),
        ("bü\u{AD}cher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"), ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
    ])
    func aNameHasOneFormInASCII(name: String, ascii: String) {
        #expect(InternationalName.ascii(name) == ascii)
        #expect(InternationalName.ascii(ascii) == ascii)
    }

    @Test(arguments: [
        "", ".h", "a b", "a/b", "a:b", "ü b", "ü／b", "ü＠b", "ü？b", "ü\u{2028}b", "ü\u{FFFD}", "ü\u{202E}b", "\u{301}a",
        "xn--ü", "ü!", String(repeating: "ü", count: 64), String(repeating: "a", count: 254),
        String(repeating: "ü.", count: 40),
    ])
    func aTextThatIsNoNameHasNone(text: String) {
        #expect(InternationalName.ascii(text) == nil)
    }
}
