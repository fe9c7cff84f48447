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
	t.Run("problems of a line", problemsOfALine)
}

func problemsOfALine(t *testing.T) {
	const control = "must be one line of text without control characters"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing is a line", "", nil},
		{"words of any language are", "größer — 大きい 🚀", nil},
		{"so are what YAML has a meaning for, and what it escapes", "- 'x': \"y\" # ~ \u00a0\ufeff\ufffd", nil},
		{"a line that is full fits", strings.Repeat("ä", 32), nil},
		{"a longer one does not", strings.Repeat("ä", 33), []string{"is 66 bytes long, may be 64"}},
		{"two lines are none", "a\nb", []string{control}},
		{"nor are two in Unicode", "a\u2028b", []string{control}},
		{"a tab steers a terminal", "a\tb", []string{control}},
		{"so does an escape", "\x1b[31m", []string{control}},
		{"so do those above ASCII", "a\u0085", []string{control}},
		{"half a character is no text", "a\xff", []string{control}},
		{"a surrogate is no text", "a\xed\xa0\x80", []string{control}},
		{"the swapped byte order mark is no character", "a\ufffeb", []string{"has U+FFFE, which is no character"}},
		{"the last of the plane is none", "\uffff", []string{"has U+FFFF, which is no character"}},
		{"those inside of the plane are none", "\ufdd0", []string{"has U+FDD0, which is no character"}},
		{"those of other planes are none", "\U0010ffff", []string{"has U+10FFFF, which is no character"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := LineProblems(tc.text, 64); !slices.Equal(got, tc.want) {
				t.Errorf("%q: %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}

// lost returns the texts of which Decode reads others from what the two ways to write
// make of them: as YAML, and as JSON within YAML.
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
			// One spoils them all.
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

// together is how many texts are written at once, which takes less time.
const together = 100

func TestWhatIsALineCanBeReadAgain(t *testing.T) {
	var chunk strings.Builder
	var chunks, alone []string
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || len(LineProblems(string(r), 4)) > 0 {
			continue
		}
		// YAML gives the first character of a text a meaning, and the last.
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
			t.Errorf("%q is read as another", text)
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
			t.Errorf("%q is read as another", text)
		}
	}
	if len(lines) < 10_000 {
		t.Errorf("only %d of the texts were lines", len(lines))
	}
}
