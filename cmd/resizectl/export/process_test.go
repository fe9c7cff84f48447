package export

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// asProgram makes this test program be resizectl.
const asProgram = "TEST_EXPORT_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program(context.Background(), genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func TestProcess(t *testing.T) {
	t.Run("leaves whole files if it is killed", leavesWholeFilesIfItIsKilled)
	t.Run("runs the script of the documentation", runsTheScriptOfTheDocumentation)
	t.Run("commits as the example of the help", commitsAsTheExampleOfTheHelp)
}

func leavesWholeFilesIfItIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var items []item
	for i := range 60 {
		name := fmt.Sprintf("web-%d", i)
		all[name+".yaml"] = strings.ReplaceAll(deployment("        resources: {requests: {cpu: 1}}\n"+strings.Repeat("        # more\n", 100)), "name: web", "name: "+name)
		items = append(items, of("Deployment", name, "app", "250m", ""))
	}
	from, killed := usage(t, items...), 0
	for round := range 3 {
		dir := files(t, all)
		cmd := exec.Command(self, "export", "-f", dir, "--from", from, "--write")
		cmd.Env = append(os.Environ(), asProgram+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		// It is killed once it has replaced some of the files.
		for some := false; !some; {
			entry, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("web-%d.yaml", round*20)))
			if err != nil {
				t.Fatal(err)
			}
			some = strings.Contains(string(entry), "250m")
			select {
			case err := <-done:
				done <- err
				some = true
			case <-t.Context().Done():
				return
			default:
			}
		}
		_ = cmd.Process.Kill()
		if err := <-done; err != nil {
			killed++
		}
		for name, text := range texts(t, dir) {
			if old, ok := all[name]; ok && text != old && text != strings.Replace(old, "cpu: 1", "cpu: 250m", 1) {
				t.Errorf("%s has %d bytes", name, len(text))
			}
		}
		if code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", from, "--write"); code != command.ExitOK || len(texts(t, dir)) != len(all) {
			t.Errorf("then: exit %d, stderr %q", code, stderr)
		}
	}
	if killed == 0 {
		t.Error("no process was killed before its end")
	}
}

// script is the script in the documentation.
var script = regexp.MustCompile("(?s)```sh\n(.*?)```")

func runsTheScriptOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(started, "../../../docs/tasks/export-to-git.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := script.FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/tasks/export-to-git.md has no script")
	}
	bin := files(t, map[string]string{"resize.sh": string(found[1])})
	origin, work := t.TempDir(), files(t, map[string]string{"deploy/web.yaml": deployment(sized)})
	run := shell(t)
	run(origin, "git", "init", "--quiet", "--bare")
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "-m", "first"}, {"remote", "add", "origin", origin}} {
		run(work, "git", args...)
	}
	run(work, "sh", filepath.Join(bin, "resize.sh"))
	if message := run(origin, "git", "log", "-1", "--format=%B", "resize"); !strings.HasPrefix(message, "Resize 1 workload by usage\n\nA pod template changes, which replaces its pods: 1 rollout.\n") {
		t.Errorf("the message is\n%s", message)
	}
	if changed := run(origin, "git", "show", "resize:deploy/web.yaml"); changed != deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}}\n") {
		t.Errorf("the file is\n%s", changed)
	}
	if again := run(work, "sh", filepath.Join(bin, "resize.sh")); !strings.HasSuffix(again, "nothing to change\n") {
		t.Errorf("twice, the script prints\n%s", again)
	}
}

func commitsAsTheExampleOfTheHelp(t *testing.T) {
	_, help, _ := program.Shell(t.Context(), "export", "--help")
	example := regexp.MustCompile(`(?m)^.* git commit .*$`).FindString(help)
	work, run := files(t, map[string]string{"deploy/web.yaml": deployment(sized)}), shell(t)
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "-m", "first"}} {
		run(work, "git", args...)
	}
	run(work, "sh", "-c", strings.Replace(example, "--write", `--write --from "$USAGE"`, 1))
	if subject, rest := run(work, "git", "log", "-1", "--format=%s"), run(work, "git", "status", "--short"); subject != "Resize 1 workload by usage\n" || rest != "" {
		t.Errorf("%q commits %q, and leaves %q", example, subject, rest)
	}
}

// shell returns a function that runs a program in a directory. Resizectl is this test program.
func shell(t *testing.T) func(dir, name string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := files(t, map[string]string{"resizectl": "#!/bin/sh\n" + asProgram + "=1 exec " + self + " \"$@\"\n"})
	if err := os.Chmod(filepath.Join(bin, "resizectl"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Git tells the programs that it runs, such as a hook that runs tests, which repository to change.
	environment := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	environment = append(environment, "PATH="+bin+":"+os.Getenv("PATH"), "USAGE="+usage(t, web()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	return func(dir, name string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		cmd.Env = environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
}
