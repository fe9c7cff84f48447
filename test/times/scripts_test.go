package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs commands in a folder, with the scripts of the folder above as $scripts, and returns what
// they print and whether they succeeded.
func shell(t *testing.T, dir, commands string) (output string, ok bool) {
	t.Helper()
	scripts, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	run.Dir = dir
	run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "scripts=" + scripts}
	out, err := run.CombinedOutput()
	if err != nil && run.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), err == nil
}

func TestUnlessPassed(t *testing.T) {
	dir := t.TempDir()
	const once, again = "mkdir -p in; echo one > in/file", "touch in/file"
	for _, tc := range []struct {
		name, before, command string
		runs, passes          bool
	}{
		{"a command that never ran runs", once, "echo ran; false", true, false},
		{"a command that failed runs again", again, "echo ran; false", true, false},
		{"a different command runs", again, "echo ran", true, true},
		{"what make only printed has not passed", "export MAKEFLAGS='n --no-print-directory'; echo other > in/file", "echo ran", true, true},
		{"it runs later", "export MAKEFLAGS=' -j2 --no-print-directory'", "echo ran", true, true},
		{"a change that was undone does not matter", "echo one > in/file", "echo ran", false, true},
		{"a command that passed does not run again, even if files are newer", again, "echo ran", false, true},
		{"it runs with ALL=1", "export ALL=1", "echo ran", true, true},
		{"it runs if a file has changed", "echo two > in/file", "echo ran", true, true},
		{"it runs if there is another file", "mkdir in/new; touch in/new/file", "echo ran", true, true},
		{"it does not run if a change was undone", "echo one > in/file; rm -r in/new", "echo ran", false, true},
		{"it does not pass if a path is missing", "rm -r in", "echo ran", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, ok := shell(t, dir, tc.before+`; "$scripts/unless-passed" 'in' bash -c '`+tc.command+`'`)
			if runs := strings.Contains("\n"+out, "\nran\n"); runs != tc.runs || ok != tc.passes {
				t.Errorf("ran is %v, passed is %v:\n%s", runs, ok, out)
			}
		})
	}
}

func TestTimed(t *testing.T) {
	dir := t.TempDir()
	const makefile = "ifdef RECIPE_TIMES\nSHELL := $(scripts)/timed\n.SHELLFLAGS = $@ -euo pipefail -c\nendif\n" +
		"greeting := $(shell echo hello)\n\nall: fast failing ## Do it all.\nfast: ## Be fast.\n\t@echo $(greeting)\n\t@$(MAKE) --no-print-directory inner\ninner: ## Be a part.\n\t@echo inner >&2\nfailing: ## Fail.\n\t@exit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600); err != nil {
		t.Fatal(err)
	}
	out, ok := shell(t, dir, "mkdir times; date +%s >times/started; make RECIPE_TIMES=times --keep-going all")
	if ok {
		t.Error("a recipe that failed has passed")
	}
	for _, want := range []string{"fast: Be fast.\nhello\ninner\n", "failing: Fail.\n", "failing FAILED after 0 seconds"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	targets, err := readTargets(filepath.Join(dir, "times"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range targets {
		names = append(names, target.name)
	}
	if got := strings.Join(names, " "); got != "fast failing" {
		t.Errorf("got the times of %s; want fast, including what it runs, and failing", got)
	}
	if out, ok := shell(t, dir, "make fast"); !ok || out != "hello\ninner\n" {
		t.Errorf("without times: %v\n%s", ok, out)
	}
}
