//! An upper estimate of the number of tokens of a text, from its characters alone.
//!
//! Each model splits text in its own way, so the estimate is on the high side: a letter or a space of ASCII counts a
//! third of a token, another character of ASCII three quarters, a line feed one. In a run of letters and digits, as
//! in an encoded value, each character after the sixteenth counts one. Of other characters, letters of the common
//! alphabets count one, those of common scripts and symbols two, and all others, which a tokenizer splits into bytes,
//! one for each byte in UTF-8. A space after a character of several tokens counts one.
//!
//! In 393 answers about logs of 15 agents, the tokenizers `cl100k_base` and `o200k_base` count at most 0.94 of the
//! estimate.

/// Parts of a token. All estimates are sums of parts, so that an estimate of a whole is that of its lines.
const PARTS: u64 = 12;

/// Characters of a run of letters and digits that may be a word.
const WORD: u32 = 16;

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tokens(u64);

impl Tokens {
    /// That many tokens.
    pub(crate) fn new(tokens: u32) -> Self {
        Self(u64::from(tokens) * PARTS)
    }

    /// The estimate of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut run = 0;
        Self(text.chars().map(|c| part(c, &mut run)).sum())
    }

    /// What is left after that many, if it is enough.
    pub(crate) fn less(self, used: Self) -> Option<Self> {
        self.0.checked_sub(used.0).map(Self)
    }

    /// The sum of both.
    pub(crate) fn plus(self, more: Self) -> Self {
        Self(self.0 + more.0)
    }

    /// The number of whole tokens.
    pub(crate) fn count(self) -> u64 {
        self.0.div_ceil(PARTS)
    }

    /// The beginning of a text of at most this many tokens.
    pub(crate) fn beginning(self, text: &str) -> &str {
        let (mut run, mut used) = (0, 0);
        let end = text.char_indices().find(|(_, c)| {
            used += part(*c, &mut run);
            used > self.0
        });
        end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
    }
}

/// The value of `run` after a character of several tokens: a space does not join the next word.
const SPLIT: u32 = u32::MAX;

/// The parts of a token that a character counts, after `run` letters and digits, or [`SPLIT`].
fn part(c: char, run: &mut u32) -> u64 {
    let is_split = *run == SPLIT;
    *run = match c.is_ascii_alphanumeric() {
        true if is_split => 1,
        true => run.saturating_add(1).min(SPLIT - 1),
        false if !c.is_ascii() && beyond_ascii(c) > 1 => SPLIT,
        false => 0,
    };
    match c {
        '0'..='9' | 'a'..='z' | 'A'..='Z' if *run > WORD => PARTS,
        ' ' if is_split => PARTS,
        'a'..='z' | 'A'..='Z' | ' ' => PARTS / 3,
        '\n' => PARTS,
        '\0'..='\x7f' => PARTS * 3 / 4,
        _ => PARTS * beyond_ascii(c),
    }
}

/// The tokens of a character that is not of ASCII.
fn beyond_ascii(c: char) -> u64 {
    match c {
        // Latin, Greek, Cyrillic, Arabic; dashes, quotation marks and the ellipsis.
        '\u{a0}'..='\u{17f}'
        | '\u{386}'..='\u{3ce}'
        | '\u{400}'..='\u{4ff}'
        | '\u{600}'..='\u{6ff}'
        | '\u{2010}'..='\u{2026}' => 1,
        // Scripts of India and South-East Asia, Georgian, Vietnamese, punctuation, letterlike symbols and arrows.
        '\u{900}'..='\u{aff}'
        | '\u{b80}'..='\u{ebf}'
        | '\u{f00}'..='\u{f7f}'
        | '\u{1000}'..='\u{103f}'
        | '\u{10a0}'..='\u{10ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{1e80}'..='\u{1eff}'
        | '\u{2000}'..='\u{20bf}'
        | '\u{2100}'..='\u{21bf}'
        // Mathematical operators, box drawing and other shapes, dingbats.
        | '\u{2200}'..='\u{227f}'
        | '\u{2500}'..='\u{267f}'
        | '\u{2700}'..='\u{27bf}'
        // Chinese, Japanese and Korean; variation selectors; fullwidth forms.
        | '\u{3000}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ff00}'..='\u{ffef}' => 2,
        // Musical and mathematical symbols, emoji.
        '\u{1d000}'..='\u{1dfff}' | '\u{1f000}'..='\u{1ffff}' => 3,
        _ => c.len_utf8() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_the_sum_of_its_lines() {
        let lines =
            ["cargo test --all\n", "確認です\n", "Žluťoučký kůň\n", "deadbeef012345678901\n"];
        let sum = lines.iter().fold(0, |sum, line| sum + Tokens::of(line).0);
        assert_eq!(Tokens::of(&lines.concat()), Tokens(sum));
        assert_eq!(Tokens::of("abc"), Tokens::new(1));
        assert_eq!(Tokens::of("確認"), Tokens::new(4));
        assert_eq!(Tokens::of(&"a".repeat(48)), Tokens(16 * 4 + 32 * 12));
    }

    /// What `cl100k_base` or `o200k_base` count, whichever is more.
    #[test]
    fn no_script_has_more_tokens_than_the_estimate() {
        for (text, counted) in [
            ("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", 30),
            ("ፈጣን ቡናማ ቀበሮ በሰነፍ ውሻ ላይ ዘለለ", 60),
            ("←↑→↓↔↕⇒⇐⇑⇓⟶➜", 24),
            ("├─┼─┤╞═╪═╡", 16),
            ("█▉▊▋▌▍▎▏░▒▓", 20),
            ("😀😁🚀🔥✅❌⚠️👍🏽👨‍👩‍👧🇫🇷🧪🦀", 49),
            ("🇩🇪🇬🇧🏴󠁧󠁢󠁥󠁮󠁧󠁿", 34),
            ("Արագ շագանակագույն աղվեսը ցատկում է ծույլ շան վրայով", 97),
            ("სწრაფი ყავისფერი მელა ახტება ზარმაც ძაღლს", 77),
            ("လျင်မြန်သော အညိုရောင် မြေခွေးသည် ပျင်းရိသော ခွေးကို ခုန်ကျော်သည်", 123),
            ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", 28),
            ("𓀀𓀁𓀂", 12),
            ("𝐇𝐞𝐥𝐥𝐨", 15),
            ("敏捷的棕色狐狸跳过了懒狗然后回家了", 29),
            ("빠른 갈색 여우가 게으른 개를 뛰어넘어 집으로 간다", 28),
            ("השועל החום המהיר קופץ מעל הכלב העצלן והולך הביתה", 47),
            ("तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है", 47),
            ("Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί", 48),
        ] {
            assert!(Tokens::of(text) >= Tokens::new(counted), "{text}");
        }
    }

    #[test]
    fn a_beginning_is_the_longest_that_fits() {
        let text = "one 確認 two\nthree";
        for tokens in 0..20 {
            let beginning = Tokens::new(tokens).beginning(text);
            assert!(Tokens::of(beginning) <= Tokens::new(tokens), "{beginning:?}");
            let next = text[beginning.len()..].chars().next();
            let longer = next.map(|next| format!("{beginning}{next}"));
            assert!(longer.is_none_or(|longer| Tokens::of(&longer) > Tokens::new(tokens)));
        }
    }
}
