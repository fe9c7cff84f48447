package house

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

// root is the folder of the repository.
const root = "../.."

// concepts are the pages of docs/concepts.
var concepts = []string{
	"README.md", "a-resize-from-plan-to-actuation.md", "checks.md", "guard.md", "holds-and-freeze.md", "measured-ratios.md",
	"pace-and-waiting.md", "ratios.md", "replicas.md", "shared.md", "sizes.md", "usage.md",
}

// worked is the title of the last section of each task.
const worked = "See that it worked"

// budgets are the most words by hand that a page, or all pages of a folder, may have. The first pattern counts.
var budgets = []struct {
	pattern string
	words   int
}{
	{"README.md", 900},
	{"docs/concepts/*.md", 900},
	{"docs/tasks/*.md", 400},
	{"docs/design/usage.md", 2000},
	{"docs/reference/alerts.md", 3000},
}

const allWords = 32_000

func TestDocs(t *testing.T) {
	t.Run("has no more words by hand than it may have", hasNoMoreWordsByHandThanItMayHave)
	t.Run("has the pages of concepts with a picture and an example each", hasThePagesOfConceptsWithAPictureAndAnExampleEach)
	t.Run("has tasks that end with how to see that it worked", hasTasksThatEndWithHowToSeeThatItWorked)
	t.Run("has no pages outside of its folders", hasNoPagesOutsideOfItsFolders)
	t.Run("has links to what exists", hasLinksToWhatExists)
	t.Run("has the sections that other files name", hasTheSectionsThatOtherFilesName)
}

// read returns the text of the files that match, by their paths relative to the root.
func read(t *testing.T, matches func(name string) bool) map[string]string {
	t.Helper()
	texts := map[string]string{}
	if err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"bin", "dist", "node_modules", "third_party"}, entry.Name())):
			return fs.SkipDir
		case entry.Type().IsRegular() && matches(name):
			text, err := os.ReadFile(filepath.Join(root, name))
			texts[name] = string(text)
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return texts
}

// documentation matches the README and the pages in docs.
func documentation(name string) bool {
	return name == "README.md" || strings.HasPrefix(name, "docs/") && path.Ext(name) == ".md"
}

var (
	generated = regexp.MustCompile(`^<!-- generated: .+ -->$`)
	end       = "<!-- end -->"
)

// byHand returns the lines of a page that are not generated. A page that begins with the mark of what is
// generated and has no end is generated as a whole.
func byHand(page string) (lines []string, err error) {
	inside, began := false, 0
	for n, line := range strings.Split(page, "\n") {
		switch mark := strings.TrimSpace(line); {
		case generated.MatchString(mark) && inside:
			return nil, fmt.Errorf("line %d: what is generated begins twice", n+1)
		case generated.MatchString(mark):
			inside, began = true, n
		case mark == end && !inside:
			return nil, fmt.Errorf("line %d: nothing generated ends here", n+1)
		case mark == end:
			inside = false
		case !inside:
			lines = append(lines, line)
		}
	}
	if inside && began != 0 {
		return nil, fmt.Errorf("line %d: what is generated has no end", began+1)
	}
	return lines, nil
}

// word is what has a letter or a digit, unlike the lines of tables and pictures.
var word = regexp.MustCompile(`\S*[\p{L}\p{N}]\S*`)

// words counts the words of a page that are not generated.
func words(page string) (int, error) {
	lines, err := byHand(page)
	return len(word.FindAllString(strings.Join(lines, "\n"), -1)), err
}

// tooLong returns the pages that have more words than they may have, and the words of all pages together.
func tooLong(pages map[string]string) (found []string, all int) {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		n, err := words(pages[name])
		if err != nil {
			found = append(found, fmt.Sprintf("%s: %v", name, err))
		}
		all += n
		for _, budget := range budgets {
			if matched, _ := path.Match(budget.pattern, name); matched {
				if n > budget.words {
					found = append(found, fmt.Sprintf("%s has %d words, want at most %d", name, n, budget.words))
				}
				break
			}
		}
	}
	return found, all
}

func hasNoMoreWordsByHandThanItMayHave(t *testing.T) {
	pages := read(t, documentation)
	found, all := tooLong(pages)
	for _, fault := range found {
		t.Error(fault)
	}
	if all > allWords {
		t.Errorf("the documentation has %d words by hand, want at most %d", all, allWords)
	}
	t.Logf("%d words by hand on %d pages", all, len(pages))
}

// fence is the begin of a block of code, with the name of its language, which pictures lack.
var fence = regexp.MustCompile("(?m)^ *```(.*)$")

// blocks returns the languages of the blocks of code in part of a page.
func blocks(text string) (languages []string) {
	for n, found := range fence.FindAllStringSubmatch(text, -1) {
		if n%2 == 0 {
			languages = append(languages, found[1])
		}
	}
	return languages
}

// explains returns what a page about a concept lacks.
func explains(page string) (faults []string) {
	intro, _, _ := strings.Cut(page, "\n## ")
	if got := blocks(intro); len(got) != 1 || got[0] != "" {
		faults = append(faults, "does not begin with one picture")
	}
	_, example, found := strings.Cut(page, "\n## Example\n")
	if got := blocks(example); !found || strings.Contains(example, "\n## ") || len(got) != 1 || got[0] == "" {
		faults = append(faults, "does not end with one example")
	}
	if len(blocks(page)) != 2 {
		faults = append(faults, fmt.Sprintf("has %d blocks, want a picture and an example", len(blocks(page))))
	}
	return faults
}

func hasThePagesOfConceptsWithAPictureAndAnExampleEach(t *testing.T) {
	pages := read(t, func(name string) bool { return path.Dir(name) == "docs/concepts" })
	var names []string
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		names = append(names, path.Base(name))
		if path.Base(name) == "README.md" {
			continue
		}
		for _, fault := range explains(pages[name]) {
			t.Errorf("%s %s", name, fault)
		}
	}
	if !slices.Equal(names, concepts) {
		t.Errorf("docs/concepts has %v, want %v", names, concepts)
	}
}

// leads returns what a page about a task lacks.
func leads(page string) (faults []string) {
	titles := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(page, -1)
	if len(titles) == 0 || titles[len(titles)-1][1] != worked {
		return []string{"does not end with the section " + worked}
	}
	_, section, _ := strings.Cut(page, "\n## "+worked+"\n")
	if len(blocks(section)) == 0 && !regexp.MustCompile("(?m)^    |`").MatchString(section) {
		faults = append(faults, "does not show how to see that it worked")
	}
	if !regexp.MustCompile(`(?m)^1\. `).MatchString(page) {
		faults = append(faults, "has no steps")
	}
	return faults
}

func hasTasksThatEndWithHowToSeeThatItWorked(t *testing.T) {
	pages := read(t, func(name string) bool { return path.Dir(name) == "docs/tasks" && path.Base(name) != "README.md" })
	if len(pages) < 15 {
		t.Errorf("there are only %d tasks", len(pages))
	}
	for name, page := range pages {
		for _, fault := range leads(page) {
			t.Errorf("%s %s", name, fault)
		}
	}
}

func hasNoPagesOutsideOfItsFolders(t *testing.T) {
	folders := []string{"docs/concepts", "docs/tasks", "docs/reference", "docs/design"}
	for name := range read(t, documentation) {
		if name != "README.md" && name != "docs/README.md" && !slices.Contains(folders, path.Dir(name)) {
			t.Errorf("%s is outside of %v", name, folders)
		}
	}
}

var (
	heading = regexp.MustCompile(`^#+ +(.*?) *$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inline  = regexp.MustCompile("`[^`]*`")
)

// anchors returns what links to the sections of a page can name, as GitHub derives it from the headings.
func anchors(page string) map[string]bool {
	found, times := map[string]bool{}, map[string]int{}
	for _, line := range prose(page) {
		title := heading.FindStringSubmatch(line)
		if title == nil {
			continue
		}
		anchor := docpage.Anchor(linked.ReplaceAllString(title[1], "$1"))
		if n := times[anchor]; n > 0 {
			found[fmt.Sprintf("%s-%d", anchor, n)] = true
		} else {
			found[anchor] = true
		}
		times[anchor]++
	}
	return found
}

// prose returns the lines of a page outside of blocks of code.
func prose(page string) (lines []string) {
	inside := false
	for line := range strings.Lines(page) {
		if fence.MatchString(strings.TrimRight(line, "\n")) {
			inside = !inside
		} else if !inside {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// broken returns what is wrong with a link to a file and an anchor in it; empty if nothing is. The names of
// files are relative to the root.
func broken(file, anchor string, exists func(file string) bool, pages map[string]string) string {
	switch page, known := pages[file]; {
	case !exists(file):
		return file + " does not exist"
	case anchor == "":
		return ""
	case !known:
		return file + " has no sections"
	case !anchors(page)[anchor]:
		return fmt.Sprintf("%s has no section %q", file, anchor)
	}
	return ""
}

// brokenLinks returns what is wrong with the links of pages, and how many links there are.
func brokenLinks(pages map[string]string, exists func(file string) bool) (found []string, n int) {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		text := inline.ReplaceAllString(strings.Join(prose(pages[name]), "\n"), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // An address.
			}
			n++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if fault := broken(file, anchor, exists, pages); fault != "" {
				found = append(found, name+": "+fault)
			}
		}
	}
	return found, n
}

// exists returns whether a file or folder exists.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

func markdown(name string) bool {
	return path.Ext(name) == ".md" && !strings.Contains(name, "testdata/")
}

func hasLinksToWhatExists(t *testing.T) {
	found, n := brokenLinks(read(t, markdown), exists)
	for _, fault := range found {
		t.Error(fault)
	}
	if n < 300 {
		t.Errorf("only %d links were found", n)
	}
}

// named matches a page of the documentation, with a section or without.
var named = regexp.MustCompile(`\b((?:docs/[\w./-]+|README|KNOWN_ISSUES|CONTRIBUTING|CHANGELOG)\.md)(?:#([\w-]+))?`)

func hasTheSectionsThatOtherFilesName(t *testing.T) {
	pages, n := read(t, markdown), 0
	others := read(t, func(name string) bool {
		return slices.Contains([]string{".go", ".yaml", ".yml", ".proto", ".json", ".txt", ".tpl", ".table", ".ts"}, path.Ext(name)) || path.Base(name) == "Makefile"
	})
	delete(others, "test/house/docs_test.go")
	for name, text := range others {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "docs/") && m[2] == "" {
				continue
			}
			n++
			if fault := broken(m[1], m[2], exists, pages); fault != "" {
				t.Errorf("%s: %s", name, fault)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d names were found", n)
	}
}

// Each fault of the documentation is detected.
func TestFaults(t *testing.T) {
	long := strings.Repeat("word ", 901)
	pages := map[string]string{
		"README.md":           "| " + long + "| --- │",
		"docs/concepts/a.md":  "# A\n<!-- generated: a -->\n" + long + "\n<!-- end -->\n" + long,
		"docs/concepts/b.md":  "# B\n<!-- generated: a -->\n" + long + "\n<!-- end -->\n",
		"docs/reference/c.md": "<!-- generated: c -->\n" + long,
		"docs/tasks/d.md":     "# D\n<!-- generated: a -->\n" + long,
	}
	want := []string{"README.md has 901 words, want at most 900", "docs/concepts/a.md has 902 words, want at most 900", "docs/tasks/d.md: line 2: what is generated has no end"}
	if found, all := tooLong(pages); !slices.Equal(found, want) || all != 901+902+1 {
		t.Errorf("%d words, found %q", all, found)
	}
	const picture, example = "# A\n\n```\npicture\n```\n\n## Why\n", "\n## Example\n\n```yaml\na: b\n```\n"
	for page, n := range map[string]int{picture + example: 0, picture: 2, "# A\n\n## Why\n" + example: 2, picture + example + "\n## More\n": 1, picture + "```\n```\n" + example: 1} {
		if faults := explains(page); len(faults) != n {
			t.Errorf("%q in %q, want %d", faults, page, n)
		}
	}
	for page, n := range map[string]int{"1. a\n\n## " + worked + "\n\n    b\n": 0, "1. a\n": 1, "1. a\n\n## " + worked + "\n\nb\n": 1, "\n## " + worked + "\n\n    b\n": 1, "1. a\n\n## " + worked + "\n\n    b\n\n## More\n": 1} {
		if faults := leads(page); len(faults) != n {
			t.Errorf("%q in %q, want %d", faults, page, n)
		}
	}
	pages = map[string]string{
		"docs/a.md": "# The `code`, and [more](b.md)\n\n```\n# not a heading\n[x](y.md)\n```\n\n## Twice\n## Twice\n\n[1](#twice-1) [2](b.md#b) [3](b.md) [4](../deploy) `[5](none.md)` [6](https://example.com/none.md)\n",
		"docs/b.md": "# B\n\n[1](a.md#the-code-and-more) [2](a.md#not-a-heading) [3](none.md) [4](#c) [5](a.md#twice-2) [6](../deploy#x)\n",
	}
	want = []string{`docs/b.md: docs/a.md has no section "not-a-heading"`, "docs/b.md: docs/none.md does not exist", `docs/b.md: docs/b.md has no section "c"`, `docs/b.md: docs/a.md has no section "twice-2"`, "docs/b.md: deploy has no sections"}
	there := func(file string) bool { return file == "deploy" || pages[file] != "" }
	if found, n := brokenLinks(pages, there); !slices.Equal(found, want) || n != 11 {
		t.Errorf("%d links, found %q", n, found)
	}
}
