package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestVersion(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	const change, commitAll = "echo >> file", "git add -A && git commit -qm change"
	for _, tc := range []struct{ name, commands, want string }{
		{"a tag is the version", "git tag v1.2.3", `^v1\.2\.3$`},
		{"an annotated tag is the version", "git tag -m release v1.2.3", `^v1\.2\.3$`},
		{"other tags are not", "git tag stable", `^v0\.0\.0-g[0-9a-f]{12}$`},
		{"a commit without a tag", "true", `^v0\.0\.0-g[0-9a-f]{12}$`},
		{"a commit after a tag", "git tag v1.2.3; " + change + "; " + commitAll, `^v1\.2\.3-1-g[0-9a-f]{12}$`},
		{"a change to a file", "git tag v1.2.3; " + change, `^v1\.2\.3-dirty$`},
		{"a new file", "git tag v1.2.3; touch new", `^v1\.2\.3-dirty$`},
		{"an ignored file is no change", "echo new > .git/info/exclude; git tag v1.2.3; touch new", `^v1\.2\.3$`},
		{"a change to a commit without a tag", change, `^v0\.0\.0-g[0-9a-f]{12}-dirty$`},
		{"no checkout", "rm -rf .git", `^development$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string][]byte{"Makefile": makefile, "file": nil} {
				if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			shell(t, dir, "git init -q; "+commitAll+"; "+tc.commands, identity...)
			if got := shell(t, dir, "make --no-print-directory version", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)); !regexp.MustCompile(tc.want).MatchString(got) {
				t.Errorf("got %q, want %s", got, tc.want)
			}
		})
	}
}
