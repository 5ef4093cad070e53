import Foundation
import Orders
import SafeText
import Testing

@Suite struct VariantConditionTests {
    @Test(arguments: [
        (
            "height<=1080", VariantCondition.Attribute.height, VariantCondition.Comparison.atMost,
            VariantCondition.Value.number(1080)
        ),
        ("height = 720p", .height, .equal, .number(720)), ("peak<5M", .peak, .below, .number(5_000_000)),
        ("average>=800k", .average, .atLeast, .number(800_000)), ("PEAK>265000", .peak, .above, .number(265_000)),
        ("width!=1280", .width, .isNot, .number(1280)), ("fps<=29.97", .fps, .atMost, .number(29.97)),
        ("channels>=6", .channels, .atLeast, .number(6)), ("range=sdr,HLG", .range, .equal, .words(["SDR", "HLG"])),
        ("codec!=hvc1", .codec, .isNot, .words(["hvc1"])),
    ])
    func conditionFromText(
        text: String, attribute: VariantCondition.Attribute, comparison: VariantCondition.Comparison,
        value: VariantCondition.Value
    ) throws {
        let condition = try VariantCondition(text)
        #expect(condition.attribute == attribute && condition.comparison == comparison && condition.value == value)
        #expect(
            try JSONDecoder().decode([VariantCondition].self, from: JSONEncoder().encode([condition])) == [condition])
    }

    @Test(arguments: [
        ("heigth<=1080", "\"heigth\" is not one of peak, average, width, height, fps, channels, range, codec"),
        ("1080p", "it has no <=, >=, <, >, = or !="), ("height!1080", "it has no <=, >=, <, >, = or !="),
        ("height<=tall", "\"tall\" is not a number of pixels"), ("height<=", "\"\" is not a number of pixels"),
        ("height<=-1", "\"-1\" is not a number of pixels"), ("fps=nan", "\"nan\" is not a number of frames a second"),
        ("channels>=x", "\"x\" is not a number of channels"),
        ("height>=1080.5", "\"1080.5\" is not a number of pixels"), ("width<=1e3", "\"1e3\" is not a number of pixels"),
        ("fps<=0x1p4", "\"0x1p4\" is not a number of frames a second"),
        ("peak<=5", "\"5\" is not a bit rate such as 5M, 800k or 265000"), ("range=HDR", "a range is SDR, HLG or PQ"),
        ("range<=SDR", "range takes = or !="), ("codec=", "its value is empty"), ("codec=avc1,", "its value is empty"),
    ])
    func aMistakenConditionIsExplained(text: String, reason: String) {
        let mistake = #expect(throws: VariantCondition.Mistake.self) { try VariantCondition(text) }
        #expect(mistake?.description == "\"\(text)\" is not a condition such as height<=1080: \(reason)")
    }
}
