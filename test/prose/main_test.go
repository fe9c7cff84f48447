package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, file, source, want string }{
		{"a literal keeps its line", "p.go", "package p\n\nconst a = \"two words\"\n", "\n\ntwo words.\n"},
		{"paragraphs of a raw literal are joined", "p.go", "package p\nconst a = `one line\nand another\n\n  an example\n`\nvar b = \"a third\"\n", "\none line and another.\n\n\nan example.\n\na third.\n"},
		{"literals on one line stay on it", "p.go", "package p\nvar a = f(\"one text\", \"more\\ntext, too\")\n", "\none text. more text, too.\n"},
		{"literals that are joined are one text", "p.go", "package p\nvar a = \"one \" +\n\t\"text\"\n", "\none text.\n"},
		{"names are not text", "p.go", "package p\nconst a = \"cpu\"\n", ""},
		{"imports are not text", "p.go", "package p\nimport \"fmt\"\n", ""},
		{"paragraphs of a comment are joined", "p.go", "package p\n\n// A says\n// this.\n//\n// And that:\n//   - an item\nvar a = 1 // of a\n", "\n\nA says this.\n\n\nAnd that:.\n- an item.\nof a.\n"},
		{"directives are not text", "p.go", "package p\n\n//go:embed two words\nvar a string\n", ""},
		{"comments of tests are text, but not their literals", "p_test.go", "package p\n\n// A is text.\nvar a = \"two words\"\n", "\n\nA is text.\n"},
		{"comments of a proto file", "p.proto", "// A\n// sentence.\nmessage M {\n  // Another.\n}\n", "A sentence.\n\n\nAnother.\n"},
		{"comments and descriptions in YAML", "p.yaml", "# A\n# sentence.\na: b c\n  description: \"More text.\"\n", "A sentence.\n\n\nMore text.\n"},
		{"a plain text", "NOTES.txt", "A\nsentence.\n\n  an example\n", "A sentence.\n\n\nan example.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := blocksOf(c.file, []byte(c.source))
			if err != nil || lay(got) != c.want {
				t.Errorf("got %q, %v, want %q", lay(got), err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, source, want string }{
		{"a paragraph is joined", "One\nline.\n\nAnother.\n", "One line.\n\n\nAnother.\n"},
		{"items of lists are joined", "- one\n  item\n- two\n\n1. three\n   lines\n   long\n", "- one item\n\n- two\n\n1. three lines long\n\n\n"},
		{"tables, code and switches of Vale stay", "| a |\n| b |\n```\none\ntwo\n```\ntext\n<!-- vale off -->\n\n    code\n    more\n", "| a |\n| b |\n```\none\ntwo\n```\ntext\n<!-- vale off -->\n\n    code\n    more\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := markdown(c.source); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("a file without text is not written", func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(dir)
		if err := os.WriteFile("p.go", []byte("package p\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := extract("p.go", filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", "p.go.txt")); !os.IsNotExist(err) {
			t.Errorf("got %v, want no file", err)
		}
	})
	t.Run("an error names the file", func(t *testing.T) {
		_, err := blocksOf("p.go", []byte("package"))
		if err == nil || err.Error() != "p.go:1:8: expected 'IDENT', found 'EOF'" {
			t.Errorf("got %v", err)
		}
	})
}
