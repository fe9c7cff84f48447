package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, file, source, want string }{
		{"a literal keeps its line", "p.go", "package p\n\nconst a = \"two words\"\n", "\n\ntwo words. !\n"},
		{"a raw literal is joined, and its paragraphs keep their lines", "p.go", "package p\nconst a = `one line\nand another\n\nthe end.`\nvar b = \"a third\"\n", "\none line and another. !\n\n\nthe end. !\na third. !\n"},
		{"indented lines of a literal are not joined", "p.go", "package p\nconst a = `a table:\n  one  row\n  another`\n", "\na table:. !\none row. !\nanother. !\n"},
		{"literals on one line stay on it", "p.go", "package p\nvar a = f(\"one text\", \"more\\ntext, too\")\n", "\none text. ! more text, too. !\n"},
		{"literals that are added are one text", "p.go", "package p\nvar a = \"read \" +\n\tf(\"with spaces\") + \": not a \" + kind\n", "\nread …: not a …. !\nwith spaces. !\n"},
		{"names are not text", "p.go", "package p\nconst a = \"cpu\"\n", ""},
		{"imports are not text", "p.go", "package p\nimport \"fmt\"\n", ""},
		{"the names of tests are text, and their input is not", "p_test.go", "package p\nconst a = \"two words\"\nconst b = `an\ninput file, or output that is too long to be the name of a test, so its wording is not checked here`\n", "\ntwo words. !\n"},
		{"the lines of a comment are joined", "p_test.go", "package p\n\n// F does\n// this.\n//\n// And that\nfunc F() {}\n", "\n\nF does this. !\n\n\nAnd that. !\n"},
		{"an item of a list in a comment is joined", "p.go", "package p\n\n// F does:\n//   - this\n//     and that\n//   - more\nfunc F() {}\n", "\n\nF does:. !\n- this and that. !\n\n- more. !\n"},
		{"code in a comment is not text", "p.go", "package p\n\n// F runs `some code` like\n//\n//\tmore code\nfunc F() {}\n", "\n\nF runs … like. !\n"},
		{"directives are not text", "p.go", "package p\n\n// F does this\n//\n//go:noinline the rest\nfunc F() {}\n", "\n\nF does this. !\n"},
		{"comments and literals are in the order of their lines", "p.go", "package p\n\nvar a = \"two words\" // a comment\n// another\n", "\n\na comment. ! two words. !\nanother. !\n"},
		{"comments of proto files are joined", "p.proto", "// A message\n// with a field.\nmessage A {\n  // One\n  // field.\n  string b = 1;\n}\n", "A message with a field. !\n\n\nOne field. !\n"},
		{"comments of YAML files are joined", "p.yaml", "a:\n  # Two\n  # lines\n  b: c\n  #   code\n", "\nTwo lines. !\n"},
		{"paragraphs of Markdown are joined", "p.md", "# Title\n\nOne\nparagraph\n\nand another\n", "# Title\n\nOne paragraph\n\n\nand another\n"},
		{"items of Markdown are joined", "p.md", "Text:\n- an\n  item\n- another\n  - a third\n    item\n", "Text:\n- an item\n\n- another\n  - a third item\n\n"},
		{"tables of Markdown are not joined", "p.md", "| a | b |\n|---|---|\n| c | d |\n", "| a | b |\n|---|---|\n| c | d |\n"},
		{"code in Markdown is not joined", "p.md", "Text\n\n    code\n    more\n\n    code\n\n```\nfenced\ncode\n```\nText\nagain\n", "Text\n\n    code\n    more\n\n    code\n\n```\nfenced\ncode\n```\nText again\n\n"},
		{"comments in Markdown are not joined", "p.md", "<!-- vale off -->\nText\n<!-- vale on -->\n", "<!-- vale off -->\nText\n<!-- vale on -->\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile(c.file, []byte(c.source), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := extract(c.file, "out"); err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join("out", c.file+"*"))
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(found) > 0 {
					t.Errorf("got %v, want no file", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("got %v, want one file", found)
			}
			if got, err := os.ReadFile(found[0]); err != nil || string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("an error names the file", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("p.go", []byte("package"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := extract("p.go", "out"); err == nil || err.Error() != "p.go:1:8: expected 'IDENT', found 'EOF'" {
			t.Errorf("got %v", err)
		}
	})
}
