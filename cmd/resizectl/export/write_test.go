package export

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestWrite(t *testing.T) {
	t.Run("refuses to write next to another export", refusesToWriteNextToAnotherExport)
	t.Run("removes what a killed process has left", removesWhatAKilledProcessHasLeft)
	t.Run("does not overwrite what has changed since it was read", doesNotOverwriteWhatHasChanged)
	t.Run("does not follow a link that has replaced a file", doesNotFollowALinkThatHasReplacedAFile)
	t.Run("quotes names that a diff could be misread by", quotesNamesThatADiffCouldBeMisreadBy)
	t.Run("restores files if a later one cannot be written", restoresFilesIfALaterOneCannotBeWritten)
	t.Run("follows a link to the directory itself", followsALinkToTheDirectoryItself)
	t.Run("writes no patch outside of the directory", writesNoPatchOutsideOfTheDirectory)
	t.Run("prints a summary", printsASummary)
	t.Run("keeps to --max-workloads", keepsToMaxWorkloads)
}

func refusesToWriteNextToAnotherExport(t *testing.T) {
	all := map[string]string{"sub/web.yaml": deployment(sized)}
	dir := files(t, all)
	for _, locked := range []string{dir, filepath.Join(dir, "sub")} {
		file, err := os.Open(locked)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write")
		if want := "error: another export writes to " + locked + ": run this one after it\n"; code != command.ExitError || stdout != "" || stderr != want {
			t.Errorf("exit %d, stdout %q, stderr %q, want %q", code, stdout, stderr, want)
		}
		_ = file.Close()
	}
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func removesWhatAKilledProcessHasLeft(t *testing.T) {
	dir := files(t, map[string]string{"web.yaml": deployment(sized), ".resizectl-123.tmp": "apiVers"})
	if code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write"); code != command.ExitOK {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	if all := texts(t, dir); len(all) != 1 {
		t.Errorf("the files are %v", all)
	}
}

func doesNotOverwriteWhatHasChanged(t *testing.T) {
	dir := files(t, map[string]string{"a.yaml": "old", "b.yaml": "old"})
	changes := []*change{{name: filepath.Join(dir, "a.yaml"), old: []byte("old"), text: []byte("new")}, {name: filepath.Join(dir, "b.yaml"), old: []byte("other"), text: []byte("new")}}
	var held locks
	defer held.release()
	if err := write(changes, &held); err == nil || !strings.Contains(err.Error(), "b.yaml has changed while it was read") {
		t.Errorf("write: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a.yaml": "old", "b.yaml": "old"}, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func doesNotFollowALinkThatHasReplacedAFile(t *testing.T) {
	dir := files(t, map[string]string{"outside.yaml": "old", "dir/a.yaml": "-> ../outside.yaml"})
	var held locks
	defer held.release()
	for _, c := range []*change{
		{name: filepath.Join(dir, "dir/a.yaml"), old: []byte("old"), text: []byte("new")},
		{name: filepath.Join(dir, "dir/a.yaml"), text: []byte("new"), added: true},
	} {
		if err := write([]*change{c}, &held); err == nil || !strings.Contains(err.Error(), "a.yaml has changed while it was read") {
			t.Errorf("write: %v", err)
		}
	}
	if to, err := os.Readlink(filepath.Join(dir, "dir/a.yaml")); to != "../outside.yaml" || texts(t, dir)["outside.yaml"] != "old" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func quotesNamesThatADiffCouldBeMisreadBy(t *testing.T) {
	dir := files(t, map[string]string{"a\n+++ b/\x1b[2J.yaml": deployment(sized)})
	_, diff, _ := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()))
	if want := `--- "a/a\n+++ b/\x1b[2J.yaml"` + "\n" + `+++ "b/a\n+++ b/\x1b[2J.yaml"` + "\n"; !strings.HasPrefix(diff, want) {
		t.Errorf("the diff is %q, want %q", diff, want)
	}
}

func restoresFilesIfALaterOneCannotBeWritten(t *testing.T) {
	dir := files(t, map[string]string{"a.yaml": "old", "taken/file": "x"})
	changes := []*change{
		{name: filepath.Join(dir, "a.yaml"), old: []byte("old"), text: []byte("new"), mode: 0o600},
		{name: filepath.Join(dir, "new.yaml"), text: []byte("new"), mode: 0o600, added: true},
		{name: filepath.Join(dir, "taken"), text: []byte("new"), mode: 0o600, added: true},
	}
	var written []*change
	var err error
	for i, c := range changes {
		if err = replace(c.name, c.text, c.mode); err != nil {
			written = changes[:i]
			break
		}
	}
	if err == nil || len(written) != 2 {
		t.Fatalf("the folder was replaced: %v", err)
	}
	if err := restore(written); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"a.yaml": "old", "taken/file": "x"}, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func followsALinkToTheDirectoryItself(t *testing.T) {
	dir := files(t, map[string]string{"real/web.yaml": deployment(sized), "real/other.yaml": "-> web.yaml", "link": "-> real"})
	code, _, stderr := program.Shell(t.Context(), "export", "-f", filepath.Join(dir, "link"), "--from", usage(t, web()), "--write")
	if got := texts(t, dir)["real/web.yaml"]; code != command.ExitOK || stderr != "" || got != deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}}\n") {
		t.Errorf("exit %d, stderr %q, text\n%s", code, stderr, got)
	}
}

func writesNoPatchOutsideOfTheDirectory(t *testing.T) {
	const name = "web/../../../../evil"
	all := map[string]string{}
	for at, text := range overlaid() {
		all["tree/"+at] = strings.NewReplacer("image: web:1", "image: web", "name: web", "name: "+name).Replace(text)
	}
	dir := files(t, all)
	tree := filepath.Join(dir, "tree")
	code, stdout, stderr := program.Shell(t.Context(), "export", "-f", tree, "--from", usage(t, web(), of("Deployment", name, "log", "1", "1Gi")), "--overlay", filepath.Join(tree, "prod"), "--write")
	if want := fmt.Sprintf("error: a recommendation is for %q, which cannot be the kind or the name of a workload\n", name); code != command.ExitError || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q, want %q", code, stdout, stderr, want)
	}
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func printsASummary(t *testing.T) {
	t.Chdir(files(t, map[string]string{
		"deploy/web.yaml": deployment("        resources: {requests: {cpu: 1, memory: 1Gi}, limits: {memory: 2Gi}}\n      - name: log\n        image: log\n"),
		"deploy/db.yaml":  strings.NewReplacer("Deployment", "StatefulSet", "name: web", "name: db").Replace(deployment("        resources: {requests: {cpu: 1}}\n")),
	}))
	from := usage(t, web(), of("Deployment", "web", "log", "20m", "32Mi"), of("StatefulSet", "db", "app", "500m", "12884901889").with("cpuMayDecrease", false).with("cpuDecreaseMessage", "23h of CPU is known, and 24h are needed (minHistory)"), of("Deployment", "gone", "app", "1", "1Gi"))
	golden := func(name string, args ...string) {
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		_, stdout, stderr := program.Shell(t.Context(), append([]string{"export", "-f", "deploy", "--from", from}, args...)...)
		shown := stdout + "---- standard error\n" + stderr
		t.Chdir(started)
		cmdtest.Golden(t, name, shown)
		t.Chdir(wd)
	}
	golden("export.diff")
	golden("export.summary", "--write")
}

// started is where the tests started.
var started, _ = os.Getwd()

func keepsToMaxWorkloads(t *testing.T) {
	all := map[string]string{}
	var items []item
	for i := range 5 {
		name := fmt.Sprintf("web-%d", i)
		all[name+".yaml"] = strings.ReplaceAll(deployment(fmt.Sprintf("        resources: {requests: {cpu: %dm}}\n", 300+200*i)), "name: web", "name: "+name)
		items = append(items, of("Deployment", name, "app", "250m", ""))
	}
	dir := files(t, all)
	code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, items...), "--write", "--max-workloads", "2")
	if code != command.ExitOK || stderr != "left for later (--max-workloads): 3 workloads\n" || !strings.Contains(stdout, "2 rollouts") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	for _, name := range []string{"web-3.yaml", "web-4.yaml"} { // The largest differences.
		all[name] = strings.NewReplacer("900m", "250m", "1100m", "250m").Replace(all[name])
	}
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

// TestManyFiles checks that 5,000 files take a few seconds of the processor, however busy the machine is.
func TestManyFiles(t *testing.T) {
	all := map[string]string{}
	var items []item
	for i := range 5000 {
		name := fmt.Sprintf("web-%d", i)
		all[fmt.Sprintf("d%d/%s.yaml", i%100, name)] = strings.ReplaceAll(deployment("        resources:\n          requests:\n            cpu: 1\n"), "name: web", "name: "+name) + strings.Repeat("---\nkind: ConfigMap\ndata: {}\n", 10)
		items = append(items, of("Deployment", name, "app", "250m", ""))
	}
	dir, from := files(t, all), usage(t, items...)
	begin := worked(t)
	code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", from)
	took := worked(t) - begin
	t.Logf("took %s", took)
	if code != command.ExitDifferences || stderr != "" || took > 10*time.Second { // 2 seconds on most machines.
		t.Errorf("exit %d after %s, stderr %q", code, took, stderr)
	}
}

// worked returns how long processors have worked for this process.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
