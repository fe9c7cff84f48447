package document

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

func TestText(t *testing.T) {
	t.Run("reports the problems of a line", reportsTheProblemsOfALine)
}

func reportsTheProblemsOfALine(t *testing.T) {
	const control = "must be one line of text without control characters"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"accepts empty text", "", nil},
		{"accepts any language", "größer — 大きい 🚀", nil},
		{"accepts YAML's special characters, and characters that YAML escapes", "- 'x': \"y\" # ~ \u00a0\ufeff\ufffd", nil},
		{"accepts a line of the maximum length", strings.Repeat("ä", 32), nil},
		{"rejects a longer line", strings.Repeat("ä", 33), []string{"is 66 bytes long, the maximum is 64"}},
		{"rejects two lines", "a\nb", []string{control}},
		{"rejects two lines with a Unicode line separator", "a\u2028b", []string{control}},
		{"rejects a tab", "a\tb", []string{control}},
		{"rejects an escape sequence", "\x1b[31m", []string{control}},
		{"rejects a control character above ASCII", "a\u0085", []string{control}},
		{"rejects invalid UTF-8", "a\xff", []string{control}},
		{"rejects a surrogate", "a\xed\xa0\x80", []string{control}},
		{"rejects the swapped byte order mark", "a\ufffeb", []string{"contains U+FFFE, which is not a character"}},
		{"rejects the last noncharacter of the basic plane", "\uffff", []string{"contains U+FFFF, which is not a character"}},
		{"rejects a noncharacter inside the basic plane", "\ufdd0", []string{"contains U+FDD0, which is not a character"}},
		{"rejects a noncharacter of another plane", "\U0010ffff", []string{"contains U+10FFFF, which is not a character"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := LineProblems(tc.text, 64); !slices.Equal(got, tc.want) {
				t.Errorf("%q: %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}

// lost returns the texts that change when they are written and decoded again. It writes
// them in both formats that are in use: as YAML, and as JSON within YAML.
func lost(t *testing.T, texts ...string) []string {
	t.Helper()
	type line struct {
		Text string `json:"text"`
	}
	type lines struct {
		Lines []line `json:"lines"`
	}
	var all lines
	for _, text := range texts {
		all.Lines = append(all.Lines, line{text})
	}
	asYAML, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, written := range []string{string(asYAML), string(asJSON)} {
		var got lines
		if err := Decode(written, &got); err != nil || len(got.Lines) != len(texts) {
			if len(texts) == 1 {
				return texts
			}
			// One text can make the whole document unreadable.
			half := len(texts) / 2
			return append(lost(t, texts[:half]...), lost(t, texts[half:]...)...)
		}
		for i, text := range texts {
			if got.Lines[i].Text != text {
				wrong = append(wrong, text)
			}
		}
	}
	return wrong
}

// together is how many strings are written together, to save time.
const together = 100

func TestWhatIsALineCanBeReadAgain(t *testing.T) {
	var chunk strings.Builder
	var chunks, alone []string
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || len(LineProblems(string(r), 4)) > 0 {
			continue
		}
		// In YAML the first and the last character of a string can be special.
		if r < 0x3000 {
			alone = append(alone, string(r))
		}
		if chunk.WriteRune(r); chunk.Len() > 4000 {
			chunks = append(chunks, chunk.String())
			chunk.Reset()
		}
	}
	for texts := range slices.Chunk(append(append(chunks, chunk.String()), alone...), together) {
		for _, text := range lost(t, texts...) {
			t.Errorf("%q is read as another text", text)
		}
	}
}

func TestAnyTextThatIsALineCanBeReadAgain(t *testing.T) {
	special := []rune("-?:,[]{}#&*!|>'\"%@`~ =<.019eExXnyYNtf\\/\u00a0\u00ad\u200b\u202e\ufeff\ufffd\U0001f680ä")
	source := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 20_000 {
		text := make([]rune, source.IntN(8))
		for i := range text {
			if text[i] = special[source.IntN(len(special))]; source.IntN(4) == 0 {
				text[i] = rune(source.IntN(utf8.MaxRune + 1))
			}
		}
		if line := string(text); len(LineProblems(line, 64)) == 0 {
			lines = append(lines, line)
		}
	}
	for texts := range slices.Chunk(lines, together) {
		for _, text := range lost(t, texts...) {
			t.Errorf("%q is read as another text", text)
		}
	}
	if len(lines) < 10_000 {
		t.Errorf("only %d of the texts are lines", len(lines))
	}
}
