package house

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	row    = regexp.MustCompile(`^\| (.*?) \| (.*) \|$`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

// names returns the words in backquotes.
func names(cell string) (all []string) {
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

// table reads the table of packages in CONTRIBUTING.md. It returns the folders, and the names
// in backquotes that each row has for folders below.
func table(text string) (folders []string, below map[string][]string) {
	below = map[string][]string{}
	_, text, _ = strings.Cut(text, "\n## Code layout\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		cells := row.FindStringSubmatch(strings.TrimSpace(line))
		if cells == nil || !strings.Contains(cells[1], "`") {
			continue
		}
		of := names(cells[1])
		parent := path.Dir(of[0])
		for _, name := range of {
			if !strings.Contains(name, "/") && parent != "." {
				name = path.Join(parent, name) // `server/ratios`, `plans`
			}
			if whole, more := strings.CutSuffix(name, "/…"); more {
				name = whole
			} else {
				folders = append(folders, name)
			}
			below[name] = append(below[name], names(cells[2])...)
		}
	}
	return folders, below
}

// packages returns the folders with Go files below a root, as paths relative to it.
func packages(t *testing.T, root string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && below != "."
		if entry.IsDir() && (hidden || slices.Contains([]string{"bin", "dist", "testdata"}, entry.Name())) {
			return filepath.SkipDir
		}
		if folder := filepath.ToSlash(filepath.Dir(below)); strings.HasSuffix(name, ".go") && !slices.Contains(all, folder) {
			all = append(all, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// missing returns the packages that no row describes.
func missing(packages, folders []string, below map[string][]string) (all []string) {
	told := func(folder string) bool {
		if slices.Contains(folders, folder) {
			return true
		}
		for parent := path.Dir(folder); parent != "."; parent = path.Dir(parent) {
			for _, name := range below[parent] {
				if folder == path.Join(parent, name) || folder == name {
					return true
				}
			}
		}
		return false
	}
	for _, folder := range packages {
		// An internal package belongs to the package that contains it.
		if outer, _, internal := strings.Cut(folder, "/internal/"); !told(folder) && (!internal || !told(outer)) {
			all = append(all, folder)
		}
	}
	return all
}

func TestHouse(t *testing.T) {
	t.Run("the table of packages has exactly the existing folders", theTableOfPackagesHasExactlyTheExistingFolders)
	t.Run("the architecture names files and declarations that exist", theArchitectureNamesFilesAndDeclarationsThatExist)
	t.Run("no package has more than 45 files", noPackageHasMoreThan45Files)
	t.Run("CONTRIBUTING.md lists the stages of make test", contributingListsTheStagesOfMakeTest)
}

func theTableOfPackagesHasExactlyTheExistingFolders(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders, below := table(string(text))
	if len(folders) < 20 {
		t.Fatalf("the table has only %v", folders)
	}
	for _, folder := range folders {
		if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
			t.Errorf("CONTRIBUTING.md lists %s, which is not a folder", folder)
		}
	}
	for _, folder := range missing(packages(t, root), folders, below) {
		t.Errorf("CONTRIBUTING.md does not describe %s", folder)
	}
}

// declaration is a name of a package and of what it declares.
var declaration = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)$`)

// Names of files and packages lack the folder of the reconciler.
func theArchitectureNamesFilesAndDeclarationsThatExist(t *testing.T) {
	const root = "../../reconciler"
	text, err := os.ReadFile("../../docs/design/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	fenced, found := regexp.MustCompile("(?s)```.*?```"), 0
	for _, name := range names(fenced.ReplaceAllString(string(text), "")) {
		files, declares := filepath.Join(root, name), regexp.MustCompile("")
		if of := declaration.FindStringSubmatch(name); of != nil {
			files, declares = filepath.Join(root, of[1], "*.go"), regexp.MustCompile(`(?m)^(func|type) (\(.*?\) )?`+of[2]+`\b`)
		} else if path.Ext(name) != ".go" {
			continue
		}
		found++
		all, err := filepath.Glob(files)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all, func(file string) bool {
			content, err := os.ReadFile(file)
			return err == nil && declares.Match(content)
		}) {
			t.Errorf("docs/design/architecture.md names %s, which does not exist", name)
		}
	}
	if found < 10 {
		t.Errorf("only %d names", found)
	}
}

func noPackageHasMoreThan45Files(t *testing.T) {
	const root = "../.."
	for _, folder := range packages(t, root) {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 45 {
			t.Errorf("%s has %d files, want at most 45", folder, len(files))
		}
	}
}

func contributingListsTheStagesOfMakeTest(t *testing.T) {
	var texts [2]string
	for n, file := range []string{"Makefile", "CONTRIBUTING.md"} {
		content, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		texts[n] = string(content)
	}
	line := regexp.MustCompile(`(?m)^TESTS := (.*)$`).FindStringSubmatch(texts[0])
	if line == nil {
		t.Fatal("the Makefile has no TESTS")
	}
	var listed []string
	for _, found := range regexp.MustCompile("(?m)^\\| `make (test-[a-z0-9]+)` \\|").FindAllStringSubmatch(texts[1], -1) {
		listed = append(listed, found[1])
	}
	if want := strings.Fields(line[1]); !slices.Equal(listed, want) {
		t.Errorf("CONTRIBUTING.md lists %v, want %v", listed, want)
	}
}

// A folder that the table lacks is detected.
func TestMissing(t *testing.T) {
	folders, below := table("# x\n\n## Code layout\n\n| Folder | What |\n|---|---|\n| `a/b`, `c` | two |\n| `d` | has `e` |\n| `f/…` | `g` |\n\n## Next\n\n| `h` | no |\n")
	got := missing([]string{"a/b", "a/c", "d", "d/e", "d/x", "f/g", "h", "d/internal/y"}, folders, below)
	if want := []string{"d/x", "h"}; !slices.Equal(got, want) {
		t.Errorf("got missing folders %v, want %v", got, want)
	}
}
