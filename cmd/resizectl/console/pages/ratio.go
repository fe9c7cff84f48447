package pages

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/benchmarks"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// readSuggestion reads what benchmarks suggest for a node type, and what accepting that would change; nothing without a node type, and if they
// suggest nothing.
func readSuggestion(ctx context.Context, c *client.Client, nodeType string) (*workloadresizerv1.GetSuggestionResponse, error) {
	if nodeType == "" {
		return nil, nil
	}
	resp, err := c.Benchmarks().GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
	if client.Reason(err) == "NO_SUGGESTION" {
		return nil, nil
	}
	return resp, err
}

// ratioView is how fast a node type is, in the words of each source, and what accepting a suggestion would change.
type ratioView struct {
	NodeType, Baseline string
	// Speeds are on one scale.
	Speeds     []speed
	Problem    string
	Suggestion []note
	Samples    []table
	// Impact is nil if there is nothing to accept.
	Impact *impactView
}

// impactView is what accepting a suggestion would mean for the pods.
type impactView struct {
	Tables []table
	// Says is what the tables do not show. Some may be empty.
	Says []string
}

// speed is how many times as fast as the baseline somebody says that a node type is.
type speed struct {
	Name, Text string
	// Used means that it is in effect.
	Used bool
	// At is where it is on the scale, from 0 to speedWidth, and Low and Wide are where its interval begins, and how wide that is. Without
	// an interval, Wide is 0.
	At, Low, Wide float64
	value         float64
	interval      *workloadresizerv1.RatioInterval
}

// speedWidth is how wide the scale is.
const speedWidth = 200

// Width is for templates.
func (speed) Width() int { return speedWidth }

// ratioOf returns the view of a node type; nil without a node type.
func ratioOf(o *print.Output, nodeType string, known []*workloadresizerv1.Ratio, read part[*workloadresizerv1.GetSuggestionResponse]) *ratioView {
	if nodeType == "" {
		return nil
	}
	v := &ratioView{NodeType: print.OneLine(nodeType), Problem: read.Problem}
	baseline := 0.0
	for _, r := range known {
		if r.GetBaseline() {
			baseline, v.Baseline = r.GetCpuPerf(), print.OneLine(r.GetNodeType())
		}
	}
	for _, r := range known {
		if r.GetNodeType() != nodeType || baseline <= 0 {
			continue
		}
		for i, candidate := range r.GetCandidates() {
			v.Speeds = append(v.Speeds, speed{Name: print.OneLine(candidate.GetProvenance().GetSource()), Used: i == 0, value: candidate.GetCpuPerf() / baseline})
		}
	}
	s := read.Value.GetSuggestion()
	if s != nil {
		painter := o.Painter()
		for _, line := range benchmarks.SuggestionLines(painter, s) {
			v.Suggestion = append(v.Suggestion, noteOf(o, strings.ToUpper(line[0][:1])+line[0][1:], line[1]))
		}
		for _, t := range benchmarks.SuggestionTables(s) {
			v.Samples = append(v.Samples, sheet("What was measured", t))
		}
	}
	if s.GetRatio() > 0 {
		v.Speeds = append(v.Speeds, speed{Name: "suggested by benchmarks", value: s.GetRatio(), interval: s.GetInterval()})
	}
	for _, p := range s.GetParts() {
		v.Speeds = append(v.Speeds, speed{Name: "benchmark " + print.OneLine(p.GetBenchmark()), value: p.GetRatio()})
	}
	scale(v.Speeds)
	if impact := read.Value.GetImpact(); impact != nil {
		all, vetoed, hidden, more := ratios.ImpactTables(impact)
		v.Impact = &impactView{Says: []string{hidden, more}}
		if all == nil {
			v.Impact.Says = []string{ratios.Unchanging}
		} else {
			v.Impact.Tables = []table{sheet("Impact", all), sheet("Vetoed", vetoed)}
		}
	}
	return v
}

// sheet returns a table whose rows lead nowhere.
func sheet(label string, of *metav1.Table) table {
	t := tableOf(of, false, func(row int) string { return fmt.Sprint(label, row) }, nil)
	t.Label = label
	return t
}

// scale puts speeds on one scale that has room for all of them and their intervals, and for the baseline.
func scale(all []speed) {
	low, high := 1.0, 1.0
	for _, s := range all {
		low, high = min(low, s.value, cmp.Or(s.interval.GetLow(), low)), max(high, s.value, s.interval.GetHigh())
	}
	const margin = 6
	at := func(value float64) float64 {
		if high == low {
			return speedWidth / 2
		}
		return margin + (speedWidth-2*margin)*(value-low)/(high-low)
	}
	for i := range all {
		s := &all[i]
		s.Text, s.At = print.Factor(s.value), at(s.value)
		if s.interval != nil {
			s.Low = at(s.interval.GetLow())
			s.Wide = at(s.interval.GetHigh()) - s.Low
			s.Text += fmt.Sprintf(", from %s to %s with %.3g%% confidence", print.Factor(s.interval.GetLow()), print.Factor(s.interval.GetHigh()), 100*s.interval.GetConfidence())
		}
	}
}
