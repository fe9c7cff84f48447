package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
)

type options struct {
	print.Output
	server       *connect.Connection
	dir          string
	namespace    string
	from         string
	overlay      string
	render       string
	diff, write  bool
	minChange    float64
	minHistory   time.Duration
	maxWorkloads int
	cpu, memory  string
	// at is the overlay as a path in the tree.
	at string
}

// The configuration has the same words for how limits follow.
var (
	cpuLimits    = []string{"follow", "keep"}
	memoryLimits = []string{"follow", "keep", "multiple", "peak"}
	limitModes   = map[string]need.LimitMode{"follow": need.Follow, "keep": need.Keep, "none": need.None, "multiple": need.Multiple, "peak": need.Peak}
)

// NewCommand returns export.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &options{Output: out, server: server, minChange: 0.1}
	cmd := &cobra.Command{
		Use:   "export -f DIR",
		Short: "Write recommended requests and limits into manifests",
		Long: `Write recommended requests and limits into the manifests in a directory: of
workloads, kustomize overlays and Helm values. Only the amounts change, or missing
ones are inserted. Comments, order, indentation and all other bytes stay.

By default, or with --diff, export prints a unified diff and changes nothing. The
exit code is 0 if nothing would change, 1 if something would, and 2 after an error.
--write changes the files, and prints a summary for a commit message. Each changed
pod template is a rollout; --max-workloads limits how many there are.

The amounts are what a container needs on the baseline, as in "usage". Bounds count,
and limits follow, as configured for the pods, unless --cpu-limit or --memory-limit
says otherwise. Pods of the class Guaranteed stay so. An amount is lowered only if
usage shows that less is enough, and what a HorizontalPodAutoscaler compares with
usage stays. A resource that has no request gets one; no limit is added.

A workload is an object with its kind and name, in its namespace if a manifest or a
kustomization names one. Standard error lists what export cannot edit safely, with
the reason: templates, encrypted files, YAML aliases, vendored charts, or objects
that several overlays share. With --overlay, such an overlay gets a patch.
Files with the name .resizer.yaml say where Helm values have the amounts of a
container; docs/tasks/export-to-git.md describes them.

With --render, a command such as "kustomize build DIR" prints manifests before and
after. Unless exactly the intended amounts differ, the files are restored, and the
exit code is 2.`,
		Example: `  # Show what would change in the manifests of a directory
  resizectl export -f deploy

  # Change them, and commit that
  resizectl export -f deploy --write > /tmp/message && git commit --all --file /tmp/message

  # Use recommendations that "usage -A -o json" has printed, without a cluster
  resizectl export -f deploy --from usage.json

  # Change one overlay, and check what kustomize makes of it
  resizectl export -f deploy --write --overlay deploy/overlays/prod --render "kubectl kustomize deploy/overlays/prod"

  # Change at most five workloads, those that differ most
  resizectl export -f deploy -n shop --max-workloads 5 --write`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.run, o.complete),
	}
	f := cmd.Flags()
	f.StringVarP(&o.dir, "filename", "f", "", "directory with manifests")
	f.StringVarP(&o.namespace, "namespace", "n", "", "only workloads in this namespace (default: every namespace)")
	f.BoolVar(&o.diff, "diff", false, "print a unified diff, which is the default")
	f.BoolVar(&o.write, "write", false, "change the files, and print a summary for a commit message")
	f.StringVar(&o.from, "from", "", "file with the output of \"usage -o json\" to use instead of a server; - for standard input")
	f.Var((*percent)(&o.minChange), "min-change", "least difference that changes an amount")
	command.DurationVar(f, &o.minHistory, "min-history", 7*24*time.Hour, "least history before an amount is lowered")
	f.IntVar(&o.maxWorkloads, "max-workloads", 0, "most workloads to change, those that differ most first; 0 for all")
	f.StringVar(&o.overlay, "overlay", "", "directory of the kustomize overlay that gets patches for what several overlays share")
	f.StringVar(&o.render, "render", "", "shell command that prints manifests, run before and after --write to compare them")
	f.Var(command.OneOf(&o.cpu, "mode", cpuLimits), "cpu-limit", "how a CPU limit follows the request, instead of as configured: "+strings.Join(cpuLimits, ", "))
	f.Var(command.OneOf(&o.memory, "mode", memoryLimits), "memory-limit", "how a memory limit follows the request, instead of as configured: "+strings.Join(memoryLimits, ", "))
	command.CompleteFlag(cmd, "cpu-limit", cobra.FixedCompletions(cpuLimits, cobra.ShellCompDirectiveNoFileComp))
	command.CompleteFlag(cmd, "memory-limit", cobra.FixedCompletions(memoryLimits, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// percent is the value of a flag that is a percentage.
type percent float64

var _ pflag.Value = new(percent)

// String implements pflag.Value.
func (p *percent) String() string { return strconv.FormatFloat(float64(*p)*100, 'f', -1, 64) + "%" }

// Set implements pflag.Value.
func (p *percent) Set(text string) error {
	digits, ok := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n >= 0 && n <= 1000) {
		return errors.New("must be a percentage, such as 10%")
	}
	*p = percent(n / 100)
	return nil
}

// Type implements pflag.Value.
func (p *percent) Type() string { return "percent" }

// complete checks the flags.
func (o *options) complete(cmd *cobra.Command, _ []string) error {
	given := cmd.Flags().Changed
	switch {
	case o.dir == "":
		return command.UsageErrorf(cmd, "name the directory with the manifests with -f DIR")
	case o.diff && o.write:
		return command.UsageErrorf(cmd, "--diff prints what --write would change: set only one of them")
	case given("render") && !o.write:
		return command.UsageErrorf(cmd, "--render compares what --write has changed: set --write, too")
	case given("render") && o.render == "":
		return command.UsageErrorf(cmd, "--render is empty: expected a command such as \"kubectl kustomize DIR\"")
	case given("from") && o.from == "":
		return command.UsageErrorf(cmd, "--from is empty; omit it to use a server")
	case given("from") && given("server"):
		return command.UsageErrorf(cmd, "--from uses a file instead of a server: set --from or --server, not both")
	case o.maxWorkloads < 0:
		return command.UsageErrorf(cmd, "--max-workloads %d is negative; use 0 for all", o.maxWorkloads)
	case o.minHistory < 0:
		return command.UsageErrorf(cmd, "--min-history %s is negative; use 0 for any", o.minHistory)
	}
	if given("namespace") {
		if err := command.CheckNamespace(cmd, o.namespace, "omit --namespace for every namespace"); err != nil {
			return err
		}
	}
	info, err := os.Stat(o.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return command.UsageErrorf(cmd, "%s does not exist: name the directory with the manifests with -f DIR", o.dir)
	case err != nil:
		return command.FileError(o.dir, err)
	case !info.IsDir():
		return command.UsageErrorf(cmd, "%s is a file: name the directory that contains it", o.dir)
	}
	if given("overlay") {
		at, err := filepath.Rel(o.dir, o.overlay)
		if err != nil || !filepath.IsLocal(at) {
			return command.UsageErrorf(cmd, "--overlay %s must be a directory in %s", o.overlay, o.dir)
		}
		o.at = filepath.ToSlash(at)
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	workloads, err := o.recommendations(ctx)
	if err != nil {
		return err
	}
	var held locks
	defer held.release()
	if o.write {
		if err := held.lock(o.dir); err != nil {
			return err
		}
	}
	line := print.NewProgress(o.ErrOut)
	line.Show("reading the manifests in " + print.OneLine(o.dir))
	made, err := o.make(workloads)
	line.Clear()
	if err != nil {
		return err
	}
	if err := o.report(made); err != nil {
		return err
	}
	if o.write {
		return o.writeAll(ctx, made, &held)
	}
	for _, c := range made.changes {
		if _, err := fmt.Fprint(o.Out, o.diffOf(c)); err != nil {
			return err
		}
	}
	if len(made.changes) > 0 {
		return command.ErrDifferences
	}
	return nil
}

// made is what changes, and why other things do not.
type made struct {
	*planner
	changes []*change
	// later are how many workloads --max-workloads leaves for later, and missing those that the directory does not have.
	later, missing int
}

// make finds out what changes. A file that turns out not to be editable is refused as a whole.
func (o *options) make(workloads []*workload) (*made, error) {
	wanted, refused := tree.Wanted{Kinds: map[string]bool{}, Names: map[string]bool{}}, map[string]tree.Refusal{}
	for _, w := range workloads {
		wanted.Kinds[w.kind], wanted.Names[w.name] = true, true
	}
	for {
		t, err := tree.Read(o.dir, wanted, refused)
		if err != nil {
			return nil, fmt.Errorf("read the directory: %w", err)
		}
		mappings, err := readMappings(t)
		if err != nil {
			return nil, err
		}
		pl := &planner{tree: t, rules: &size.Rules{MinChange: o.minChange, MinHistory: o.minHistory}, overlay: o.at, mappings: mappings}
		if f, _ := t.Overlay(o.at); o.at != "" && f == nil {
			return nil, fmt.Errorf("--overlay %s has no kustomization.yaml: name the directory of an overlay", o.overlay)
		}
		pl.all(workloads)
		m := &made{planner: pl, missing: len(workloads) - len(pl.matched), later: pl.limit(o.maxWorkloads)}
		bad := m.edit(o.dir)
		if len(bad) == 0 {
			return m, nil
		}
		for _, r := range bad {
			refused[r.File] = r
		}
	}
}

// edit makes the changes. It returns the refusals of the files that cannot be edited.
func (m *made) edit(dir string) (bad []tree.Refusal) {
	var failed []*plan
	for _, p := range m.plans {
		if len(p.targets) == 0 {
			continue
		}
		if err := p.make(); err != nil {
			m.refused = append(m.refused, refusalOf(p.file(), p.String(), err))
			failed = append(failed, p)
		}
	}
	m.plans = slices.DeleteFunc(m.plans, func(p *plan) bool { return slices.Contains(failed, p) })
	added, unlisted := m.patches()
	if unlisted != nil {
		bad = append(bad, *unlisted)
	}
	for _, inner := range m.embedded {
		if err := inner.doc.Close(); err != nil {
			bad = append(bad, refusalOf(inner.file.Path, "", err))
		}
	}
	for _, name := range m.tree.Paths() {
		f := m.tree.Files[name]
		text, err := f.Edited()
		if err != nil {
			bad = append(bad, refusalOf(name, "", err))
			continue
		}
		if string(text) != string(f.Text) {
			m.changes = append(m.changes, &change{path: name, name: filepath.Join(dir, filepath.FromSlash(name)), old: f.Text, text: text, mode: f.Mode})
		}
	}
	for name, text := range added {
		m.changes = append(m.changes, &change{path: name, name: filepath.Join(dir, filepath.FromSlash(name)), text: text, mode: 0o644, added: true})
	}
	slices.SortFunc(m.changes, func(a, b *change) int { return strings.Compare(a.path, b.path) })
	return bad
}

// refusalOf returns the refusal of a change that is not possible.
func refusalOf(file, what string, err error) tree.Refusal {
	r := tree.Refusal{File: file, Line: 1, Object: what, Reason: err.Error()}
	if fault := (*edit.Fault)(nil); errors.As(err, &fault) {
		r.Line, r.Reason = fault.Line, fault.Problem
	}
	return r
}

// limit keeps the plans of the workloads that differ most, and returns how many workloads it leaves for later.
func (pl *planner) limit(most int) (later int) {
	differs := map[*workload]float64{}
	for _, p := range pl.plans {
		for i := range p.changes {
			c := &p.changes[i]
			differs[p.workload] = max(differs[p.workload], math.Abs(float64(c.New-c.Old))/max(float64(c.Old), 1))
		}
	}
	if most == 0 || len(differs) <= most {
		return 0
	}
	order := slices.SortedFunc(maps.Keys(differs), func(a, b *workload) int {
		return cmp.Or(cmp.Compare(differs[b], differs[a]), strings.Compare(a.String(), b.String()))
	})
	pl.plans = slices.DeleteFunc(pl.plans, func(p *plan) bool { return slices.Index(order, p.workload) >= most })
	return len(order) - most
}
