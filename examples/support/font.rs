//! A 5x7 bitmap font of our own for printable ASCII, so that plots need no font file.

/// Dots in a row of a glyph.
pub const WIDTH: usize = 5;
/// Distance between the left edges of two neighbours, in dots.
pub const ADVANCE: usize = 6;
/// Rows from the top of a capital to the base line; up to two more lie below it.
pub const HEIGHT: usize = 7;

/// A character, a blank and its rows from the top. A row is one digit to base 32 whose five bits are its dots
/// from left to right: `A` is .###. #...# #...# ##### #...# #...# #...#, written `ehhvhhh`.
const GLYPHS: &str = r##"
A ehhvhhh B uhhuhhu C ehggghe D uhhhhhu E vgguggv F vgguggg G ehgnhhf H hhhvhhh I e44444e J 72222ic
K hikokih L ggggggv M hrllhhh N hhpljhh O ehhhhhe P uhhuggg Q ehhhlid R uhhukih S fgge11u T v444444
U hhhhhhe V hhhhha4 W hhhllla X hha4ahh Y hhha444 Z v1248gv
a 00e1fhf b ggmphhu c 00egghe d 11djhhf e 00ehvge f 698s888 g 00fhhhf1e h ggmphhh i 40c444e j 2062222ic
k ggikoki l c44444e m 00qllhh n 00mphhh o 00ehhhe p 00uhhhugg q 00fhhhf11 r 00mpggg s 00fge1u t 88s8896
u 00hhhjd v 00hhha4 w 00hhlla x 00ha4ah y 00hhhhf1e z 00v248v
0 ehjlphe 1 4c4444e 2 eh1248v 3 v2421he 4 26aiv22 5 vgu11he 6 68guhhe 7 v124888 8 ehhehhe 9 ehhf12c
! 4444404 " aaa0000 # aavavaa $ 4fke5u4 % op248j3 & cik8lid ' c480000 ( 2488842 ) 8422248 * 04lel40
+ 044v440 , 00000cc48 - 000v000 . 00000cc / 01248g0 : 0cc0cc0 ; 0cc0c48 < 248g842 = 00v0v00 > 8421248
? eh12404 @ eh1dlle [ e88888e \ 0g84210 ] e22222e ^ 4ah0000 _ 000000v ` 8420000 { 2448442 | 4444444
} 8442448 ~ 0008l20
"##;

/// The rows of a character, five bits each. A blank has none; what the font lacks is drawn as a question mark.
pub fn glyph(c: char) -> Vec<u8> {
    let rows_of = |c: char| {
        let mut tokens = GLYPHS.split_whitespace();
        // Tokens come in pairs; a character that is also a digit cannot be taken for a glyph's rows.
        while let (Some(name), Some(rows)) = (tokens.next(), tokens.next()) {
            if name.chars().eq([c]) {
                return Some(rows);
            }
        }
        None
    };
    if c == ' ' {
        return Vec::new();
    }
    let rows = rows_of(c).or_else(|| rows_of('?')).unwrap_or_default();
    rows.chars().map(|digit| digit.to_digit(32).unwrap_or(0) as u8).collect()
}

/// Width of a line of text, in dots.
pub fn text_width(text: &str) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(ADVANCE - WIDTH)
}
