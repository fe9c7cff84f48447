package monitoring

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

var (
	// metricName finds the metrics in a query, selection those with labels, and
	// grouping the labels that remain.
	metricName = regexp.MustCompile(`\b(?:workload_resizer|grpc_server|process|go)_[a-z0-9_]+`)
	selection  = regexp.MustCompile(`\b([a-z0-9_]+)\{([^}]*)\}`)
	labelName  = regexp.MustCompile(`(\w+)(?:=|!=)`)
	grouping   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	labelValue = regexp.MustCompile(`"[^"]*"`)
)

// queries runs every query, and looks for every metric and label that it names:
// one that does not exist would only give nothing.
func (s *scene) queries(t *testing.T) {
	d := readDashboard(t)
	all := d.queries()
	for _, a := range alerts(t) {
		all = append(all, a.Expr)
	}
	labels := map[string]map[model.LabelName]bool{}
	of := func(metric string) map[model.LabelName]bool {
		if labels[metric] == nil {
			labels[metric] = s.labels(t, metric)
			if len(labels[metric]) == 0 {
				t.Errorf("the server has no metric %s", metric)
			}
		}
		return labels[metric]
	}
	for _, query := range all {
		if _, _, _, err := s.prometheus.Query(t.Context(), query, time.Now()); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		bare := labelValue.ReplaceAllString(query, "")
		known := map[model.LabelName]bool{}
		for _, metric := range metricName.FindAllString(withoutLabels(bare), -1) {
			for label := range of(metric) {
				known[label] = true
			}
		}
		for _, match := range selection.FindAllStringSubmatch(bare, -1) {
			if !metricName.MatchString(match[1]) {
				continue // up and ALERTS are Prometheus' own.
			}
			for _, label := range labelName.FindAllStringSubmatch(match[2], -1) {
				if there := of(match[1]); len(there) > 0 && !there[model.LabelName(label[1])] {
					t.Errorf("%s has no label %s: %s", match[1], label[1], query)
				}
			}
		}
		for _, match := range grouping.FindAllStringSubmatch(bare, -1) {
			for label := range strings.SplitSeq(match[1], ",") {
				if label = strings.TrimSpace(label); len(known) > 0 && !known[model.LabelName(label)] {
					t.Errorf("there is no label %s: %s", label, query)
				}
			}
		}
	}
}

// withoutLabels leaves out what is in braces and in groupings.
func withoutLabels(query string) string {
	return grouping.ReplaceAllString(selection.ReplaceAllString(query, "$1"), "")
}

// labels are those of all series of a metric, its name among them.
func (s *scene) labels(t *testing.T, metric string) map[model.LabelName]bool {
	t.Helper()
	series, _, _, err := s.prometheus.Series(t.Context(), []string{metric}, time.Now().Add(-time.Hour), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	labels := map[model.LabelName]bool{}
	for _, set := range series {
		for label := range set {
			labels[label] = true
		}
	}
	return labels
}
