package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell runs a command in a folder and returns what it prints, without the last line break.
func shell(t *testing.T, dir, command string, env ...string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "bash", "-euc", command)
	run.Dir = dir
	// If make runs this test, its settings must not affect the inner make.
	run.Env = append(append(os.Environ(), "PWD="+dir, "MAKEFLAGS=", "MAKELEVEL=", "RECIPE_TIMES=", "TIMED_TARGET=", "GIT_CONFIG_GLOBAL=/dev/null"), env...)
	var said strings.Builder
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, said.String())
	}
	return strings.TrimSpace(string(out))
}

// identity makes commits of the same content equal.
var identity = []string{
	"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
	"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
}

// clone makes a git checkout of the files in this one, with the tag v1.2.3.
func clone(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, "../..", `git ls-files -z --cached --others --exclude-standard | while IFS= read -rd '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done | tar -c --null -T - | tar -x -C '`+dir+`'`)
	shell(t, dir, "git init -q && git add -A && git commit -qm example && git tag v1.2.3", identity...)
}

func TestReproducible(t *testing.T) {
	parent := t.TempDir()
	one, other := filepath.Join(parent, "one"), filepath.Join(parent, "in/another/folder")
	clone(t, one)
	clone(t, other)
	platform := "linux/" + runtime.GOARCH
	shell(t, one, "umask 022; make --no-print-directory release PLATFORMS="+platform, "TZ=UTC")
	all := filesIn(t, filepath.Join(one, "dist/v1.2.3"))

	t.Run("a second build with other settings has the same files", func(t *testing.T) {
		age(t, other)
		shell(t, other, "umask 077; make --no-print-directory release PLATFORMS="+platform, "TZ=Asia/Kolkata", "LC_ALL=C", "GOFLAGS=-trimpath=false")
		again := filesIn(t, filepath.Join(other, "dist/v1.2.3"))
		if got, want := slices.Sorted(maps.Keys(again)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			t.Fatalf("files %v, want %v", got, want)
		}
		for name, content := range all {
			if !bytes.Equal(again[name], content) {
				t.Errorf("%s differs", name)
			}
		}
	})
	t.Run("make image builds the image of the release", func(t *testing.T) {
		printed := shell(t, one, "make --no-print-directory image PLATFORMS="+platform)
		_, released := unpacked(t, filepath.Join(one, "dist/v1.2.3/workload-resizer_v1.2.3_image.tar"))
		if !strings.HasSuffix(printed, "@"+released.Digest.String()) {
			t.Errorf("got %s, want the digest %s", printed, released.Digest)
		}
	})

	programs := filepath.Join(parent, "programs")
	unpack(t, all["workload-resizer_v1.2.3_linux_"+runtime.GOARCH+".tar.gz"], programs)
	want := "v1.2.3 (commit " + shell(t, one, "git rev-parse HEAD") + ")"
	t.Run("programs are static and stripped", func(t *testing.T) {
		for _, program := range []string{"resizectl", "workload-resizer"} {
			checkStatic(t, filepath.Join(programs, program))
		}
	})
	t.Run("the archive and go install have the same version", func(t *testing.T) {
		for _, command := range []string{"./workload-resizer --version", "./workload-resizer version", "./resizectl --version"} {
			if got := shell(t, programs, command); got != want {
				t.Errorf("%s: %q, want %q", command, got, want)
			}
		}
		shell(t, one, "go install -trimpath ./cmd/resizectl", "GOFLAGS=-buildvcs=true", "CGO_ENABLED=0", "GOBIN="+filepath.Join(parent, "installed"))
		if got := shell(t, parent, "installed/resizectl --version"); got != want {
			t.Errorf("go install: %q, want %q", got, want)
		}
	})
	t.Run("the server runs in an empty root directory without an environment", func(t *testing.T) {
		image := imageIn(t, filepath.Join(one, "dist/v1.2.3/workload-resizer_v1.2.3_image.tar"))
		if got := alone(t, image); got != want+"\n" {
			t.Errorf("got version %q, want %q", got, want)
		}
	})
}

// age changes the times of all files.
func age(t *testing.T, dir string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		return os.Chtimes(path, time.Unix(1_000_000_000, 0), time.Unix(1_000_000_000, 0))
	}); err != nil {
		t.Fatal(err)
	}
}
