package docpage

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const reference = "docs/reference"

// handwritten is how many words of the reference may be written by hand.
const handwritten = 5000

var (
	generated = regexp.MustCompile("(?s)<!-- generated: [^\n]* -->\n.*?" + end)
	title     = regexp.MustCompile(`(?m)^# (.+)$`)
	section   = regexp.MustCompile(`(?m)^## (.+)$`)
)

// pages returns the names of the pages of the reference, and their texts.
func pages(t *testing.T) (names []string, texts map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path(t, reference), "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); name != "README.md" {
			names = append(names, name)
			texts[name] = string(content)
		}
	}
	slices.Sort(names)
	return names, texts
}

// whole reports whether a page is generated from its first line to its last.
func whole(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, "<!-- generated: ") && !strings.Contains(rest, end)
}

func TestReference(t *testing.T) {
	t.Run("the index has every page", theIndexHasEveryPage)
	t.Run("most of the reference is generated", mostOfTheReferenceIsGenerated)
}

func theIndexHasEveryPage(t *testing.T) {
	names, texts := pages(t)
	var rows [][]string
	for _, name := range names {
		text := texts[name]
		heading := title.FindStringSubmatch(text)
		if heading == nil {
			t.Fatalf("%s has no title", name)
		}
		var sections []string
		for _, s := range section.FindAllStringSubmatch(text, -1) {
			// The page of alerts has a table of them itself.
			if !whole(text) && !strings.HasPrefix(s[1], "WorkloadResizer") {
				sections = append(sections, "["+s[1]+"]("+name+"#"+Anchor(s[1])+")")
			}
		}
		rows = append(rows, []string{"[" + heading[1] + "](" + name + ")", strings.Join(sections, ", ")})
	}
	Generated(t, reference+"/README.md", map[string]string{"pages": Table([]string{"Page", "Sections"}, rows...)})
}

func mostOfTheReferenceIsGenerated(t *testing.T) {
	names, texts := pages(t)
	words := 0
	for _, name := range names {
		text := texts[name]
		if whole(text) || name == "alerts.md" {
			continue
		}
		rest := generated.ReplaceAllString(text, "")
		if strings.Contains(rest, "<!-- generated: ") || strings.Contains(rest, end) {
			t.Errorf("%s has a generated part without its begin or end", name)
		}
		words += len(strings.Fields(rest))
	}
	if words > handwritten {
		t.Errorf("%d words of the reference are written by hand, at most %d may be", words, handwritten)
	}
}
