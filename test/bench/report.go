package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
)

// line is one measurement.
type line struct {
	Name string `json:"name"`
	// Ours and Reference are in Unit. Reference is nil if there is none.
	Ours      float64  `json:"ours"`
	Reference *float64 `json:"reference,omitempty"`
	// Ratio is Ours / Reference. For several rounds, Ours and Reference are medians, and
	// Ratio is the median of the rounds' ratios.
	Ratio *float64 `json:"ratio,omitempty"`
	Unit  string   `json:"unit"`
	// Target applies to Ratio if there is one, and to Ours otherwise. Met is whether the
	// target is met. Both are empty if there is no target.
	Target string `json:"target,omitempty"`
	Met    *bool  `json:"met,omitempty"`
}

// report has all measurements.
type report struct{ lines []line }

// tell adds a measurement without a reference or a target.
func (r *report) tell(name string, ours float64, unit string) *line {
	r.lines = append(r.lines, line{Name: name, Ours: ours, Unit: unit})
	return &r.lines[len(r.lines)-1]
}

// compare adds a measurement with its reference.
func (r *report) compare(name string, ours, reference float64, unit string) *line {
	l := r.tell(name, ours, unit)
	ratio := ours / reference
	l.Reference, l.Ratio = &reference, &ratio
	return l
}

// compareRounds adds a measurement of several rounds, each with its reference.
func (r *report) compareRounds(name string, ours, reference []float64, unit string) *line {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / reference[i]
	}
	l := r.compare(name, median(ours), median(reference), unit)
	*l.Ratio = median(ratios)
	return l
}

func (l *line) value() float64 {
	if l.Ratio != nil {
		return *l.Ratio
	}
	return l.Ours
}

func (l *line) atLeast(target float64) { l.aim("≥ ", target, l.value() >= target) }
func (l *line) atMost(target float64)  { l.aim("≤ ", target, l.value() <= target) }

func (l *line) aim(sign string, target float64, met bool) {
	l.Target, l.Met = sign+number(target), &met
}

// number formats a value with at least three significant digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', max(3, digits(v)), 64) }

func digits(v float64) int { return len(strconv.FormatInt(int64(v), 10)) }

func (r *report) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tOURS\tREFERENCE\tRATIO\tUNIT\tTARGET\tMET")
	for i := range r.lines {
		l := &r.lines[i]
		reference, ratio, met := "-", "-", "-"
		if l.Reference != nil {
			reference, ratio = number(*l.Reference), number(*l.Ratio)
		}
		if l.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*l.Met]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, number(l.Ours), reference, ratio, l.Unit, l.Target, met)
	}
	fmt.Fprintln(table, r.summary())
	return table.Flush()
}

// summary counts the missed targets.
func (r *report) summary() string {
	missed := 0
	for i := range r.lines {
		if l := &r.lines[i]; l.Met != nil && !*l.Met {
			missed++
		}
	}
	if missed == 1 {
		return "1 target missed"
	}
	return fmt.Sprintf("%d targets missed", missed)
}

func (r *report) write(path string) error {
	content, err := json.MarshalIndent(r.lines, "", "  ")
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// quantile returns the value that a share of all values does not exceed.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// median returns the middle value, or the mean of the two middle values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
