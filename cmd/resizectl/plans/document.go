package plans

import (
	"bytes"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// plansJSON writes {"plans": [...], "summary": {...}} one plan at a time, so that the plans
// of a large cluster are not held in memory. If the stream ends early, the document is
// incomplete, and no parser accepts it.
type plansJSON struct {
	w     io.Writer
	plans int
}

func (p *plansJSON) Plan(plan *workloadresizerv1.Plan) error {
	lead := ",\n    "
	if p.plans == 0 {
		lead = "{\n  \"plans\": [\n    "
	}
	p.plans++
	out, err := print.JSON(plan, "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s%s", lead, out)
	return err
}

func (p *plansJSON) Summary(s *workloadresizerv1.PlanSummary) error {
	lead := "\n  ],\n"
	if p.plans == 0 {
		lead = "{\n  \"plans\": [],\n"
	}
	out, err := print.JSON(s, "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s  \"summary\": %s\n}\n", lead, out)
	return err
}

// plansYAML writes the same as plansJSON, as YAML. Incomplete YAML is still YAML, but has no
// summary, and the exit code reports an error.
type plansYAML struct {
	w     io.Writer
	plans int
}

func (p *plansYAML) Plan(plan *workloadresizerv1.Plan) error {
	lead := ""
	if p.plans == 0 {
		lead = "plans:\n"
	}
	p.plans++
	out, err := print.YAML(plan)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s- %s", lead, indentAfterFirst(out))
	return err
}

func (p *plansYAML) Summary(s *workloadresizerv1.PlanSummary) error {
	lead := ""
	if p.plans == 0 {
		lead = "plans: []\n"
	}
	out, err := print.YAML(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%ssummary:\n  %s", lead, indentAfterFirst(out))
	return err
}

// indentAfterFirst indents every line except the first by two. Empty lines occur only in
// multi-line text and mean the same without indentation.
func indentAfterFirst(yaml []byte) []byte {
	lines := bytes.SplitAfter(yaml, []byte("\n"))
	for i, line := range lines {
		if i > 0 && len(bytes.TrimSpace(line)) > 0 {
			lines[i] = append([]byte("  "), line...)
		}
	}
	return bytes.Join(lines, nil)
}

// plansDocument keeps the plans for the template of a format, which selects from the same document.
type plansDocument struct {
	w      io.Writer
	format print.Format
	plans  []any
}

func (p *plansDocument) Plan(plan *workloadresizerv1.Plan) error {
	object, err := print.Object(plan)
	p.plans = append(p.plans, object)
	return err
}

func (p *plansDocument) Summary(s *workloadresizerv1.PlanSummary) error {
	summary, err := print.Object(s)
	if err != nil {
		return err
	}
	return p.format.Select(p.w, map[string]any{"plans": p.plans, "summary": summary})
}
