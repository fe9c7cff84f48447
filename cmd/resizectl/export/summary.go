package export

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// report says on standard error what does not change although usage recommends it.
func (o *options) report(m *made) error {
	var b strings.Builder
	for i := range m.refused {
		r := m.refused[i]
		r.File = o.shown(r.File)
		fmt.Fprintf(&b, "not edited: %s\n", print.OneLine(r.String()))
	}
	for _, kept := range m.kept {
		fmt.Fprintf(&b, "kept: %s\n", print.OneLine(kept))
	}
	if m.later > 0 {
		fmt.Fprintf(&b, "left for later (--max-workloads): %s\n", print.CountOf(int64(m.later), "workload"))
	}
	if m.missing > 0 {
		fmt.Fprintf(&b, "not found in %s: %s with recommendations\n", print.OneLine(o.dir), print.CountOf(int64(m.missing), "workload"))
	}
	if !o.write && len(m.changes) == 0 {
		b.WriteString("nothing to change\n")
	}
	_, err := fmt.Fprint(o.ErrOut, b.String())
	return err
}

// shown returns the name of a file in the tree as the user would write it.
func (o *options) shown(path string) string { return filepath.Join(o.dir, filepath.FromSlash(path)) }

// diffOf returns the diff of a file. Its names are for "git apply" and "patch -p1" where the command runs or, if the
// directory is elsewhere, in it.
func (o *options) diffOf(c *change) string {
	name := c.path
	if filepath.IsLocal(o.dir) {
		name = filepath.ToSlash(o.shown(c.path))
	}
	from := quoted("a/" + name)
	if c.added {
		from = "/dev/null"
	}
	return unified(from, quoted("b/"+name), string(c.old), string(c.text))
}

// quoted returns the name of a file in a diff, like Git in quotes if it could be read as something else.
func quoted(name string) string {
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) || c == '"' || c == '\\' }) {
		return strconv.Quote(name)
	}
	return name
}

// writeAll changes the files, and prints the summary.
func (o *options) writeAll(ctx context.Context, m *made, held *locks) error {
	if len(m.changes) == 0 {
		_, err := fmt.Fprintln(o.Out, "Nothing to change")
		return err
	}
	if o.render == "" {
		if err := write(m.changes, held); err != nil {
			return err
		}
		return o.summarize(m)
	}
	before, err := render(ctx, o.render, o.ErrOut)
	if err != nil {
		return err
	}
	again, err := render(ctx, o.render, o.ErrOut)
	if err != nil {
		return err
	}
	if err := write(m.changes, held); err != nil {
		return err
	}
	after, err := render(ctx, o.render, o.ErrOut)
	if err == nil {
		err = intended(before, again, after, m.plans)
	}
	if err != nil {
		if failed := restore(m.changes); failed != nil {
			return errors.Join(err, fmt.Errorf("restore the files: %w: use git checkout", failed))
		}
		return fmt.Errorf("%w; all files are as they were: check the changes without --write", err)
	}
	return o.summarize(m)
}

// summarize prints what has changed, as a commit message.
func (o *options) summarize(m *made) error {
	var workloads []*workload
	of := map[*workload][]*plan{}
	for _, p := range m.plans {
		if len(of[p.workload]) == 0 {
			workloads = append(workloads, p.workload)
		}
		of[p.workload] = append(of[p.workload], p)
	}
	n := int64(len(workloads))
	var b strings.Builder
	fmt.Fprintf(&b, "Resize %s by usage\n\n", print.CountOf(n, "workload"))
	if n == 1 {
		b.WriteString("A pod template changes, which replaces its pods: 1 rollout.\n")
	} else {
		fmt.Fprintf(&b, "%d pod templates change, which replaces their pods: %d rollouts.\n", n, n)
	}
	for _, w := range workloads {
		class := ""
		if of[w][0].first {
			class = " (BestEffort pods become Burstable)"
		}
		fmt.Fprintf(&b, "\n%s%s\n", print.OneLine(w.String()), class)
		for _, p := range of[w] {
			fmt.Fprintf(&b, "  %s: %s\n", print.OneLine(p.container), strings.Join(p.words(), ", "))
		}
	}
	b.WriteString("\nFiles:\n")
	for _, c := range m.changes {
		fmt.Fprintf(&b, "  %s\n", print.OneLine(o.shown(c.path)))
	}
	_, err := fmt.Fprint(o.Out, b.String())
	return err
}

// words says what changes, such as "cpu request 500m → 264m".
func (p *plan) words() (all []string) {
	for _, m := range sizing.Measures {
		for i := range p.changes {
			c := &p.changes[i]
			if c.Of != m {
				continue
			}
			what := m.Name + " request"
			if c.Limit {
				what = m.Name + " limit"
			}
			from := c.From
			if from == "" {
				from = "none"
			}
			all = append(all, fmt.Sprintf("%s %s → %s", what, print.OneLine(from), c.To))
		}
	}
	return all
}
